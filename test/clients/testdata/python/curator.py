"""Runs the scenario with curator: actions on indices, by its command line.

Prints a line of JSON for each group: the state in the end, or curator's own error.
"""

import base64
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

URL = os.environ["CLIENT_URL"]
LOGIN = os.environ["CLIENT_USER"] + ":" + os.environ["CLIENT_PASSWORD"]
VERSION = importlib.metadata.version("curator-opensearch" if importlib.util.find_spec("opensearchpy") else "elasticsearch-curator")
MODERN = VERSION.startswith("9")
HOST, PORT = URL.split("//")[1].split(":")

dir = tempfile.mkdtemp(prefix="guard-client-")


def ask(method, path, body=None):
    r = urllib.request.Request(URL + path, method=method, data=json.dumps(body).encode() if body is not None else None)
    r.add_header("Authorization", "Basic " + base64.b64encode(LOGIN.encode()).decode())
    r.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(r) as answer:
        return json.load(answer)


def config():
    if MODERN:
        text = {"elasticsearch": {"client": {"hosts": URL}, "other_settings": {
            "username": os.environ["CLIENT_USER"], "password": os.environ["CLIENT_PASSWORD"]}}, "logging": {"loglevel": "WARNING"}}
    else:
        text = {"client": {"hosts": [HOST], "port": int(PORT), "http_auth": LOGIN}, "logging": {"loglevel": "WARNING"}}
    path = os.path.join(dir, "config.yml")
    with open(path, "w") as f:
        json.dump(text, f)
    return path


MAIN = "import sys; from curator.cli import cli; sys.argv[0] = 'curator'; cli()"


def act(action, options, **rest):
    """Runs one action of curator, and returns what there is of our indices then."""
    path = os.path.join(dir, "action.yml")
    with open(path, "w") as f:
        json.dump({"actions": {1: {"action": action, "description": action, "options": options, **rest}}}, f)
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", MAIN, "--config", config(), path], capture_output=True, text=True)
    if run.returncode:
        said = [line for line in (run.stdout + run.stderr).splitlines() if re.search(r"Error|Exception|ERROR|CRITICAL", line)]
        raise RuntimeError(re.sub(r"^[\d:, -]+", "", said[0] if said else "exit code %d" % run.returncode))
    return state()


def on(prefix):
    return [{"filtertype": "pattern", "kind": "prefix", "value": prefix}]


def group(name, call):
    try:
        line = {"group": name, "ok": True, "saw": call()}
    except Exception as e:
        line = {"group": name, "ok": False, "saw": type(e).__name__ + ": " + str(e)[:300]}
    print(json.dumps(line, sort_keys=True), flush=True)


def state():
    """What there is of our indices: open or closed, aliases, replicas."""
    indices = ask("GET", "/clients-*/_settings?expand_wildcards=all")
    aliases = ask("GET", "/clients-*/_alias?expand_wildcards=all")
    return {name: [s["settings"]["index"].get("verified_before_close", "open"), sorted(aliases[name]["aliases"]),
                   s["settings"]["index"]["number_of_replicas"]] for name, s in indices.items()}


def prepare():
    for n in ("clients-a1", "clients-a2", "clients-b1"):
        ask("PUT", "/" + n, {"settings": {"number_of_shards": 1, "number_of_replicas": 1}})
        ask("PUT", "/" + n + "/_doc/1?refresh=true", {"n": 1})
        ask("PUT", "/" + n + "/_doc/2?refresh=true", {"n": 2})  # a second segment


print(json.dumps({"version": VERSION}))
prepare()
group("create index", lambda: act("create_index", {"name": "clients-c1"}))
group("alias add", lambda: act("alias", {"name": "clients-all"}, add={"filters": on("clients-a")}))
group("alias remove", lambda: act("alias", {"name": "clients-all"}, remove={"filters": on("clients-a")}))
group("replicas", lambda: act("replicas", {"count": 0, "wait_for_completion": False}, filters=on("clients-a")))
group("forcemerge", lambda: act("forcemerge", {"max_num_segments": 1, "delay": 0}, filters=on("clients-a")))
group("close", lambda: act("close", {"skip_flush": True}, filters=on("clients-b")))
group("open", lambda: act("open", {}, filters=on("clients-b")))
group("delete", lambda: act("delete_indices", {}, filters=on("clients-a")))
