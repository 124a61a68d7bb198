"""Runs the scenario with opensearch-py or elasticsearch-py, whichever is installed.

Prints a line of JSON for each group of calls: what the client saw, or its own error.
"""

import json
import os

try:
    import opensearchpy as lib
    from opensearchpy import OpenSearch as Client, helpers
    VERSION = lib.__versionstr__
    MODERN = False
except ImportError:
    import elasticsearch as lib
    from elasticsearch import Elasticsearch as Client, helpers
    VERSION = lib.__versionstr__
    MODERN = lib.__version__[0] >= 8  # other names of options, other ways to the status

URL = os.environ["CLIENT_URL"]
LOGIN = (os.environ["CLIENT_USER"], os.environ["CLIENT_PASSWORD"])
INDEX = os.environ["CLIENT_INDEX"]
READ = os.environ["CLIENT_MODE"] == "read"
MISSING = "1" if READ else "none"

MAPPING = {"mappings": {"properties": {
    "n": {"type": "integer"}, "tag": {"type": "keyword"}, "text": {"type": "text"}}}}
SEARCH = {
    "query": {"bool": {"must": [{"match": {"text": "common"}}], "filter": [{"range": {"n": {"lt": 100}}}]}},
    "aggs": {"tags": {"terms": {"field": "tag"}, "aggs": {"most": {"max": {"field": "n"}}}}},
    "sort": [{"n": "desc"}], "size": 3, "track_total_hits": True,
}


def connect(**options):
    options["basic_auth" if MODERN else "http_auth"] = LOGIN
    return Client([URL], **options)


es = connect()


def group(name, call):
    try:
        line = {"group": name, "ok": True, "saw": call()}
    except Exception as e:  # whatever the client makes of it is what is compared
        line = {"group": name, "ok": False, "saw": type(e).__name__ + ": " + str(e)}
    print(json.dumps(line, sort_keys=True, default=str), flush=True)


def fails(status, call):
    """Returns the type of the exception that call ends with, which has to be of that status."""
    try:
        call()
    except (lib.ApiError if MODERN else lib.TransportError) as e:
        if e.status_code != status:
            raise
        return [type(e).__name__, status]
    raise AssertionError("it worked, but should not")


def check(value):
    """Returns value, which has to be true."""
    assert value, "the client says no"
    return value


def plain(answer):
    return getattr(answer, "body", answer)


def info():
    a = plain(es.info())
    return [a["version"]["number"], a["version"].get("distribution"), a["tagline"]]


def documents():
    for i in range(500):
        yield {"_index": INDEX, "_id": str(i), "n": i, "tag": "t%d" % (i % 3), "text": "common word%d" % i}


def bulk(client):
    count, errors = helpers.bulk(client, documents(), chunk_size=100, refresh=True)
    return [count, errors]


def bulk_conflict():
    """A refused item is reported by the helper as the client's own exception."""
    try:
        helpers.bulk(es, [{"_op_type": "create", "_index": INDEX, "_id": i, "n": 1} for i in ("1", "2")])
    except helpers.BulkIndexError as e:
        return [type(e).__name__, [[i["create"]["_id"], i["create"]["status"], i["create"]["error"]["type"]] for i in e.errors]]
    raise AssertionError("it worked, but should not")


def hits(answer):
    a = plain(answer)
    return [a["hits"]["total"], [[h["_id"], h["_source"], h.get("sort")] for h in a["hits"]["hits"]], a.get("aggregations")]


def msearch(client):
    answer = plain(client.msearch(index=INDEX, body=[
        {}, SEARCH, {"index": INDEX}, {"query": {"term": {"tag": "t1"}}, "sort": ["n"], "size": 2}, {"index": "clients-none"}, {}]))
    return [hits(a) if "hits" in a else [a["status"], a["error"]["type"]] for a in answer["responses"]]


def scan():
    seen = [h["_source"]["n"] for h in helpers.scan(es, index=INDEX, query={"query": {"match_all": {}}}, size=70, scroll="1m")]
    return [len(seen), sum(seen)]


def search_after():
    seen, after = [], None
    while True:
        body = {"sort": [{"n": "asc"}], "size": 90}
        if after:
            body["search_after"] = after
        page = plain(es.search(index=INDEX, body=body))["hits"]["hits"]
        if not page:
            return [len(seen), sum(seen)]
        seen += [h["_source"]["n"] for h in page]
        after = page[-1]["sort"]


def fields():
    caps = plain(es.field_caps(index=INDEX, fields="*"))["fields"]
    return sorted([name, list(types)] for name, types in caps.items() if not name.startswith("_"))


def aliases():
    es.indices.put_alias(index=INDEX, name="clients-alias")
    seen = [plain(es.indices.get_alias(index=INDEX)), plain(es.count(index="clients-alias"))["count"]]
    es.indices.update_aliases(body={"actions": [{"remove": {"index": INDEX, "alias": "clients-alias"}}]})
    return seen + [bool(es.indices.exists_alias(name="clients-alias"))]


def sniff():
    # From 8 on the client sniffs with the credentials that stand in the address, but not with others.
    address = URL.replace("://", "://%s:%s@" % LOGIN)
    client = Client([address], sniff_on_start=True) if MODERN else connect(sniff_on_start=True)
    pool = client.transport.node_pool.all() if MODERN else client.transport.connection_pool.connections
    return [sorted(n.base_url if MODERN else n.host for n in pool), plain(client.count(index=INDEX))["count"]]


def missing():
    check(es.indices.exists(index=INDEX))
    return [fails(404, lambda: es.get(index=INDEX, id=MISSING)),
            fails(404, lambda: es.search(index="clients-none", body={})),
            bool(es.exists(index=INDEX, id=MISSING))]


def mget():
    docs = plain(es.mget(index=INDEX, body={"ids": ["9", "1", "none", "4"]}))["docs"]
    return [[d["_id"], d["found"], d.get("_source")] for d in docs]


def reading():
    group("get", lambda: plain(es.get(index=INDEX, id="3"))["_source"])
    group("mget", mget)
    group("missing", missing)
    group("search", lambda: hits(es.search(index=INDEX, body=SEARCH)))
    group("msearch", lambda: msearch(es))
    group("count", lambda: plain(es.count(index=INDEX, body={"query": {"term": {"tag": "t1"}}}))["count"])
    group("scan", scan)
    group("search_after", search_after)
    group("field_caps", fields)
    group("mapping", lambda: plain(es.indices.get_mapping(index=INDEX)))
    group("gzip", lambda: msearch(connect(http_compress=True)))


def whole():
    group("info", info)
    group("ping", lambda: check(es.ping()))
    group("create index", lambda: plain(es.indices.create(index=INDEX, body=MAPPING)))
    group("index", lambda: plain(es.index(index=INDEX, id="1", body={"n": 1, "tag": "a"}))["result"])
    group("create", lambda: plain(es.create(index=INDEX, id="2", body={"n": 2, "tag": "b"}))["result"])
    group("update", lambda: plain(es.update(index=INDEX, id="2", body={"doc": {"tag": "c"}}))["_version"])
    group("read back", lambda: plain(es.get(index=INDEX, id="2"))["_source"])
    group("conflict", lambda: fails(409, lambda: es.create(index=INDEX, id="2", body={"n": 2})))
    group("delete", lambda: [plain(es.delete(index=INDEX, id="1"))["result"], fails(404, lambda: es.delete(index=INDEX, id="1"))])
    group("bulk", lambda: bulk(es))
    group("bulk gzip", lambda: bulk(connect(http_compress=True)))
    group("bulk conflict", bulk_conflict)
    reading()
    group("aliases", aliases)
    group("sniff", sniff)
    group("delete index", lambda: plain(es.indices.delete(index=INDEX)))


print(json.dumps({"version": VERSION}))
if READ:
    reading()
    group("forbidden", lambda: fails(403, lambda: es.index(index=INDEX, id="x", body={"n": 1})))
else:
    whole()
