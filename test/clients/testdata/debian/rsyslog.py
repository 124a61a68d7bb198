"""Runs the scenario with rsyslog and its module omelasticsearch: lines of a file become documents.

Prints a line of JSON for each group: what is in the index in the end.
"""

import base64
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

URL = os.environ["CLIENT_URL"]
USER, PASSWORD = os.environ["CLIENT_USER"], os.environ["CLIENT_PASSWORD"]
INDEX = os.environ["CLIENT_INDEX"]
ROOT = os.path.join(os.environ["CLIENT_HOME"], "root")
LIB = glob.glob(os.path.join(ROOT, "usr/lib/*-linux-gnu"))[0]
ENV = dict(os.environ, LD_LIBRARY_PATH=LIB)
HOST, PORT = URL.split("//")[1].split(":")
RSYSLOGD = os.path.join(ROOT, "usr/sbin/rsyslogd")


def ask(method, path, body=None):
    r = urllib.request.Request(URL + path, method=method, data=json.dumps(body).encode() if body is not None else None)
    r.add_header("Authorization", "Basic " + base64.b64encode((USER + ":" + PASSWORD).encode()).decode())
    r.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(r) as answer:
        return json.load(answer)


def group(name, call):
    try:
        line = {"group": name, "ok": True, "saw": call()}
    except Exception as e:
        line = {"group": name, "ok": False, "saw": type(e).__name__ + ": " + str(e)[:300]}
    print(json.dumps(line, sort_keys=True), flush=True)


def ship(lines, wanted, options=""):
    """Runs rsyslog over lines until wanted() is there; returns that and the items that were refused."""
    dir = tempfile.mkdtemp(prefix="guard-client-")
    with open(dir + "/in.log", "w") as f:
        f.writelines(l + "\n" for l in lines)
    with open(dir + "/rsyslog.conf", "w") as f:
        f.write(f'''
global(workDirectory="{dir}")
module(load="imfile")
module(load="omelasticsearch")
template(name="doc" type="string" string="%msg%")
template(name="id" type="string" string="%$!id%")
input(type="imfile" file="{dir}/in.log" tag="t" ruleset="ship")
ruleset(name="ship" queue.type="LinkedList" queue.dequeueBatchSize="100") {{
  set $!id = field($msg, 34, 4);
  action(type="omelasticsearch" server="{HOST}" serverport="{PORT}" uid="{USER}" pwd="{PASSWORD}"
         template="doc" searchIndex="{INDEX}" searchType="" bulkmode="on" dynBulkId="on" bulkid="id"
         errorfile="{dir}/errors.json" healthchecktimeout="10000" {options}
         action.resumeretrycount="2" action.resumeinterval="1")
}}
''')
    said = open(dir + "/said", "w")
    p = subprocess.Popen([RSYSLOGD, "-n", "-M", LIB + "/rsyslog", "-f", dir + "/rsyslog.conf", "-i", dir + "/pid"],
                         env=ENV, stdout=said, stderr=said)
    try:
        end = time.time() + 40
        seen = None
        while time.time() < end:
            seen = wanted(dir)
            if seen is not None:
                return seen
            time.sleep(0.2)
        raise RuntimeError("it did not come: " + open(dir + "/said").read()[-300:] + errors(dir))
    finally:
        p.send_signal(signal.SIGTERM)
        p.wait(20)
        shutil.rmtree(dir)


def errors(dir):
    try:
        return open(dir + "/errors.json").read()
    except FileNotFoundError:
        return ""


def contents(wanted):
    def look(_):
        try:
            ask("POST", "/%s/_refresh" % INDEX)
            a = ask("POST", "/%s/_search" % INDEX, {"size": 0, "track_total_hits": True, "aggs": {"sum": {"sum": {"field": "n"}}}})
        except urllib.error.HTTPError:
            return None
        return [a["hits"]["total"]["value"], a["aggregations"]["sum"]["value"]] if a["hits"]["total"]["value"] >= wanted else None
    return look


def refused(dir):
    text = errors(dir)
    types = ("mapper_parsing_exception", "version_conflict_engine_exception")
    return [t for t in types if t in text] or None


def docs(start, count):
    return ['{"id":"%d","n":%d,"tag":"t%d"}' % (n, n, n % 3) for n in range(start, start + count)]


version = subprocess.run([RSYSLOGD, "-v"], env=ENV, capture_output=True, text=True).stdout.split()[1]
print(json.dumps({"version": version}))
ask("PUT", "/" + INDEX, {"mappings": {"properties": {"n": {"type": "integer"}, "tag": {"type": "keyword"}}}})
group("bulk", lambda: ship(docs(0, 500), contents(500)))
group("bulk create", lambda: ship(docs(500, 100), contents(600), 'writeoperation="create"'))
group("refused item", lambda: ship(['{"id":"x","n":"no number"}'], refused))
group("conflict", lambda: ship(docs(0, 3), refused, 'writeoperation="create"'))
