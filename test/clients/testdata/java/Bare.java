import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs a part of the scenario with the HTTP client of the JDK as it comes: on a plain
 * connection it asks for an upgrade to HTTP/2, and works without.
 */
public class Bare {
    private static final String URL = System.getenv("CLIENT_URL");
    private static final String INDEX = System.getenv("CLIENT_INDEX");
    private static final boolean READ = System.getenv("CLIENT_MODE").equals("read");
    private static final String LOGIN = Base64.getEncoder().encodeToString((System.getenv("CLIENT_USER") + ":" + System.getenv("CLIENT_PASSWORD")).getBytes());
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final String MAPPING =
        "{'mappings':{'properties':{'n':{'type':'integer'},'tag':{'type':'keyword'},'text':{'type':'text'}}}}";
    private static final String SEARCH = "{'size':1,'sort':['n'],'query':{'match':{'text':'common'}},'aggs':{'tags':{'terms':{'field':'tag'}}}}";

    public static void main(String[] args) {
        System.out.println("{\"version\":\"" + Runtime.version().feature() + "\"}");
        if (!READ) {
            group("info", () -> part(ask(200, "GET", "/", ""), "\"number\" : \"([^\"]*)\""));
            group("ping", () -> ask(200, "HEAD", "/", ""));
            group("create index", () -> ask(200, "PUT", "/" + INDEX, MAPPING));
            group("create", () -> part(ask(201, "PUT", "/" + INDEX + "/_create/2", "{'n':2}"), "\"result\":\"(\\w*)\""));
            group("conflict", () -> part(ask(409, "PUT", "/" + INDEX + "/_create/2", "{'n':2}"), "\"type\":\"(\\w*)\""));
            group("bulk", Bare::bulk);
        }
        group("get", () -> part(ask(200, "GET", "/" + INDEX + "/_doc/3", ""), "\"_source\":(\\{[^}]*\\})"));
        group("missing", () -> ask(404, "GET", "/" + INDEX + "/_doc/" + (READ ? "1" : "none"), ""));
        group("search", () -> part(ask(200, "POST", "/" + INDEX + "/_search", SEARCH), "(\"hits\":.*)"));
        group("count", () -> part(ask(200, "POST", "/" + INDEX + "/_count", "{'query':{'term':{'tag':'t1'}}}"), "\"count\":(\\d*)"));
        if (READ) {
            group("forbidden", () -> part(ask(403, "PUT", "/" + INDEX + "/_doc/x", "{'n':1}"), "\"type\":\"(\\w*)\""));
        } else {
            group("delete index", () -> ask(200, "DELETE", "/" + INDEX, ""));
        }
    }

    private static String bulk() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int n = 0; n < 500; n++) {
            lines.append("{'index':{'_id':'" + n + "'}}\n{'n':" + n + ",'tag':'t" + n % 3 + "','text':'common word" + n + "'}\n");
        }
        return part(ask(200, "POST", "/" + INDEX + "/_bulk?refresh=true", lines.toString()), "\"errors\":(\\w*)");
    }

    private static String ask(int status, String method, String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(URL + path)).timeout(Duration.ofSeconds(60))
            .header("Authorization", "Basic " + LOGIN).header("Content-Type", path.contains("_bulk") ? "application/x-ndjson" : "application/json")
            .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"'))).build();
        HttpResponse<String> answer = CLIENT.send(request, BodyHandlers.ofString());
        if (answer.statusCode() != status) {
            throw new IllegalStateException(answer.statusCode() + " " + answer.body());
        }
        return answer.body();
    }

    /** Returns what the pattern's group finds. */
    private static String part(String text, String pattern) {
        Matcher m = Pattern.compile(pattern).matcher(text);
        if (!m.find()) {
            throw new IllegalStateException("no " + pattern + " in " + text);
        }
        return m.group(1);
    }

    private static void group(String name, Callable<String> call) {
        boolean ok = true;
        String saw;
        try {
            saw = call.call();
        } catch (Exception e) {
            ok = false;
            saw = e.getClass().getSimpleName() + ": " + e.getMessage();
        }
        String text = saw.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
        System.out.println("{\"group\":\"" + name + "\",\"ok\":" + ok + ",\"saw\":\"" + text + "\"}");
    }
}
