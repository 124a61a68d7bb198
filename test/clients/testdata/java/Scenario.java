import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.apache.hc.client5.http.auth.AuthScope;
import org.apache.hc.client5.http.auth.UsernamePasswordCredentials;
import org.apache.hc.client5.http.impl.auth.BasicCredentialsProvider;
import org.apache.hc.core5.http.HttpHost;
import org.opensearch.client.json.JsonData;
import org.opensearch.client.json.jackson.JacksonJsonpMapper;
import org.opensearch.client.opensearch.OpenSearchClient;
import org.opensearch.client.opensearch._types.FieldValue;
import org.opensearch.client.opensearch._types.OpenSearchException;
import org.opensearch.client.opensearch._types.SortOrder;
import org.opensearch.client.opensearch._types.Time;
import org.opensearch.client.opensearch._types.aggregations.StringTermsBucket;
import org.opensearch.client.opensearch._types.mapping.TypeMapping;
import org.opensearch.client.opensearch._types.query_dsl.Query;
import org.opensearch.client.opensearch.core.BulkRequest;
import org.opensearch.client.opensearch.core.BulkResponse;
import org.opensearch.client.opensearch.core.SearchRequest;
import org.opensearch.client.opensearch.core.SearchResponse;
import org.opensearch.client.opensearch.core.bulk.BulkResponseItem;
import org.opensearch.client.opensearch.core.search.Hit;
import org.opensearch.client.opensearch.core.search.SearchResult;
import org.opensearch.client.transport.OpenSearchTransport;
import org.opensearch.client.transport.Version;
import org.opensearch.client.transport.httpclient5.ApacheHttpClient5TransportBuilder;
import org.opensearch.client.transport.httpclient5.ResponseException;

/**
 * Runs the scenario with opensearch-java. Prints a line of JSON for each group of
 * calls: what the client saw, or its own error.
 */
public class Scenario {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JacksonJsonpMapper MAPPER = new JacksonJsonpMapper();
    private static final String INDEX = System.getenv("CLIENT_INDEX");
    private static final boolean READ = System.getenv("CLIENT_MODE").equals("read");
    private static final String ABSENT = READ ? "1" : "none";

    private static final Query TAGGED = Query.of(q -> q.term(t -> t.field("tag").value(FieldValue.of("t1"))));
    private static final Query COMMON = Query.of(q -> q.bool(b -> b
        .must(m -> m.match(t -> t.field("text").query(FieldValue.of("common"))))
        .filter(f -> f.range(r -> r.field("n").lt(JsonData.of(100))))));

    private final OpenSearchClient client;

    private Scenario(boolean compressed) throws Exception {
        URI url = URI.create(System.getenv("CLIENT_URL"));
        HttpHost host = new HttpHost(url.getScheme(), url.getHost(), url.getPort());
        BasicCredentialsProvider login = new BasicCredentialsProvider();
        login.setCredentials(new AuthScope(host),
            new UsernamePasswordCredentials(System.getenv("CLIENT_USER"), System.getenv("CLIENT_PASSWORD").toCharArray()));
        OpenSearchTransport transport = ApacheHttpClient5TransportBuilder.builder(host)
            .setMapper(MAPPER)
            .setCompressionEnabled(compressed)
            .setHttpClientConfigCallback(http -> http.setDefaultCredentialsProvider(login))
            .build();
        client = new OpenSearchClient(transport);
    }

    public static void main(String[] args) throws Exception {
        Scenario plain = new Scenario(false);
        print(Map.of("version", Version.VERSION.toString()));
        if (READ) {
            plain.reading();
            group("forbidden", () -> fails(403, plain::index));
        } else {
            plain.whole();
        }
        System.exit(0); // the client's threads would keep it
    }

    private void whole() throws Exception {
        Scenario zipped = new Scenario(true);
        group("info", () -> {
            var v = client.info().version();
            return list(v.number(), v.distribution(), client.info().tagline());
        });
        group("ping", () -> check(client.ping().value()));
        group("create index", () -> client.indices().create(c -> c.index(INDEX).mappings(mapping())).acknowledged());
        group("index", this::index);
        group("create", this::create);
        group("update", () -> client.update(u -> u.index(INDEX).id("2").doc(Map.of("tag", "c")), JsonNode.class).version());
        group("read back", () -> get("2"));
        group("conflict", () -> fails(409, this::create));
        group("delete", () -> list(
            client.delete(d -> d.index(INDEX).id("1")).result().jsonValue(), client.delete(d -> d.index(INDEX).id("1")).result().jsonValue()));
        group("bulk", this::bulk);
        group("bulk gzip", zipped::bulk);
        group("bulk conflict", this::bulkConflict);
        reading();
        group("aliases", this::aliases);
        group("delete index", () -> client.indices().delete(d -> d.index(INDEX)).acknowledged());
    }

    private void reading() throws Exception {
        Scenario zipped = new Scenario(true);
        group("get", () -> get("3"));
        group("mget", this::mget);
        group("missing", this::missing);
        group("search", () -> seen(client.search(wanted(), JsonNode.class)));
        group("msearch", this::msearch);
        group("count", () -> client.count(c -> c.index(INDEX).query(TAGGED)).count());
        group("scan", this::scan);
        group("search_after", this::searchAfter);
        group("field_caps", () -> new TreeSet<>(client.fieldCaps(f -> f.index(INDEX).fields("*")).fields().keySet()).stream()
            .filter(f -> !f.startsWith("_")).toList());
        group("mapping", () -> new TreeSet<>(client.indices().getMapping(g -> g.index(INDEX)).result().get(INDEX).mappings().properties().keySet()));
        group("gzip", zipped::msearch);
    }

    private static TypeMapping mapping() {
        return TypeMapping.of(m -> m.properties("n", p -> p.integer(i -> i)).properties("tag", p -> p.keyword(k -> k)).properties("text", p -> p.text(t -> t)));
    }

    private Object index() throws Exception {
        return client.index(i -> i.index(INDEX).id("1").document(Map.of("n", 1, "tag", "a"))).result().jsonValue();
    }

    private Object create() throws Exception {
        return client.create(c -> c.index(INDEX).id("2").document(Map.of("n", 2, "tag", "b"))).result().jsonValue();
    }

    private Object get(String id) throws Exception {
        return client.get(g -> g.index(INDEX).id(id), JsonNode.class).source();
    }

    private Object bulk() throws Exception {
        int written = 0;
        for (int start = 0; start < 500; start += 100) {
            BulkRequest.Builder request = new BulkRequest.Builder().index(INDEX);
            for (int i = start; i < start + 100; i++) {
                int n = i;
                request.operations(o -> o.index(x -> x.id("" + n).document(Map.of("n", n, "tag", "t" + n % 3, "text", "common word" + n))));
            }
            BulkResponse answer = client.bulk(request.build());
            check(!answer.errors());
            written += answer.items().size();
        }
        client.indices().refresh(r -> r.index(INDEX));
        return written;
    }

    private Object bulkConflict() throws Exception {
        BulkResponse answer = client.bulk(b -> b.index(INDEX)
            .operations(o -> o.create(c -> c.id("1").document(Map.of("n", 1)))).operations(o -> o.create(c -> c.id("2").document(Map.of("n", 2)))));
        check(answer.errors());
        List<Object> saw = new ArrayList<>();
        for (BulkResponseItem item : answer.items()) {
            saw.add(list(item.id(), item.status(), item.error().type()));
        }
        return saw;
    }

    private Object mget() throws Exception {
        List<Object> saw = new ArrayList<>();
        for (var doc : client.mget(m -> m.index(INDEX).ids("9", "1", "none", "4"), JsonNode.class).docs()) {
            saw.add(list(doc.result().id(), doc.result().found(), doc.result().source()));
        }
        return saw;
    }

    private Object missing() throws Exception {
        check(client.indices().exists(e -> e.index(INDEX)).value());
        return list(
            client.get(g -> g.index(INDEX).id(ABSENT), JsonNode.class).found(),
            fails(404, () -> client.search(s -> s.index("clients-none"), JsonNode.class)),
            client.exists(e -> e.index(INDEX).id(ABSENT)).value());
    }

    private static SearchRequest wanted() {
        return SearchRequest.of(s -> s.index(INDEX).query(COMMON).size(3).sort(o -> o.field(f -> f.field("n").order(SortOrder.Desc)))
            .aggregations("tags", a -> a.terms(t -> t.field("tag")).aggregations("most", m -> m.max(x -> x.field("n")))));
    }

    private static Object seen(SearchResult<JsonNode> answer) {
        List<Object> rows = new ArrayList<>();
        for (Hit<JsonNode> hit : answer.hits().hits()) {
            rows.add(list(hit.id(), hit.source(), hit.sort()));
        }
        List<Object> buckets = new ArrayList<>();
        if (answer.aggregations().containsKey("tags")) {
            for (StringTermsBucket b : answer.aggregations().get("tags").sterms().buckets().array()) {
                buckets.add(list(b.key(), b.docCount(), b.aggregations().get("most").max().value()));
            }
        }
        return list(answer.hits().total().value(), rows, buckets);
    }

    private Object msearch() throws Exception {
        List<Object> saw = new ArrayList<>();
        var answer = client.msearch(m -> m
            .searches(s -> s.header(h -> h.index(INDEX)).body(b -> b.query(COMMON).size(3).sort(o -> o.field(f -> f.field("n")))))
            .searches(s -> s.header(h -> h.index(INDEX)).body(b -> b.query(TAGGED).size(2).sort(o -> o.field(f -> f.field("n")))))
            .searches(s -> s.header(h -> h.index("clients-none")).body(b -> b.size(1))), JsonNode.class);
        for (var one : answer.responses()) {
            saw.add(one.isResult() ? seen(one.result()) : list(one.failure().status(), one.failure().error().type()));
        }
        return saw;
    }

    private Object scan() throws Exception {
        int count = 0;
        long sum = 0;
        Time keep = Time.of(t -> t.time("1m"));
        SearchResponse<JsonNode> first = client.search(s -> s.index(INDEX).size(70).scroll(keep), JsonNode.class);
        String id = first.scrollId();
        for (List<Hit<JsonNode>> page = first.hits().hits(); !page.isEmpty();) {
            for (Hit<JsonNode> hit : page) {
                count++;
                sum += hit.source().get("n").asInt();
            }
            String last = id;
            var next = client.scroll(s -> s.scrollId(last).scroll(keep), JsonNode.class);
            id = next.scrollId();
            page = next.hits().hits();
        }
        String last = id;
        return list(count, sum, client.clearScroll(c -> c.scrollId(last)).succeeded());
    }

    private Object searchAfter() throws Exception {
        int count = 0;
        List<String> after = null;
        while (true) {
            SearchRequest.Builder request = new SearchRequest.Builder().index(INDEX).size(90).sort(o -> o.field(f -> f.field("n")));
            if (after != null) {
                request.searchAfter(after);
            }
            var page = client.search(request.build(), JsonNode.class).hits().hits();
            if (page.isEmpty()) {
                return count;
            }
            count += page.size();
            after = page.get(page.size() - 1).sort();
        }
    }

    private Object aliases() throws Exception {
        client.indices().putAlias(p -> p.index(INDEX).name("clients-alias"));
        List<Object> saw = list(
            client.indices().getAlias(g -> g.index(INDEX)).result().get(INDEX).aliases().keySet(), client.count(c -> c.index("clients-alias")).count());
        client.indices().updateAliases(u -> u.actions(a -> a.remove(r -> r.index(INDEX).alias("clients-alias"))));
        saw.add(client.indices().existsAlias(e -> e.name("clients-alias")).value());
        return saw;
    }

    private static void group(String name, Callable<Object> call) throws Exception {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("group", name);
        try {
            Object saw = call.call();
            line.put("ok", true);
            line.put("saw", saw);
        } catch (Exception e) { // whatever the client makes of it is what is compared
            line.put("ok", false);
            line.put("saw", e.getClass().getSimpleName() + ": " + Objects.toString(e.getMessage()));
        }
        print(line);
    }

    private static void print(Object line) throws Exception {
        System.out.println(JSON.writeValueAsString(line));
    }

    /** Returns the type of the exception that call ends with, which has to be of that status. */
    private static Object fails(int status, Callable<Object> call) throws Exception {
        try {
            call.call();
        } catch (OpenSearchException e) {
            if (e.status() != status) {
                throw e;
            }
            return list(e.getClass().getSimpleName(), status);
        } catch (ResponseException e) { // from calls whose errors the client has no type for
            if (e.status() != status) {
                throw e;
            }
            return list(e.getClass().getSimpleName(), status);
        } catch (IOException e) { // what the client makes of any 403
            if (status != 403 || !"Forbidden access".equals(e.getMessage())) {
                throw e;
            }
            return list(e.getClass().getSimpleName(), status);
        }
        throw new IllegalStateException("it worked, but should not");
    }

    private static Object check(boolean value) {
        if (!value) {
            throw new IllegalStateException("the client says no");
        }
        return true;
    }

    private static List<Object> list(Object... values) {
        List<Object> list = new ArrayList<>();
        for (Object v : values) {
            list.add(v);
        }
        return list;
    }
}
