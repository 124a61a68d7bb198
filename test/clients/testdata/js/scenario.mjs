// Runs the scenario with @opensearch-project/opensearch or @elastic/elasticsearch,
// whichever is installed in the working directory.
//
// Prints a line of JSON for each group of calls: what the client saw, or its own error.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const name = Object.keys(require('./package.json').dependencies)[0];
const { Client } = require(name);
const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
// From 8 on answers are bodies and requests have no "body" any more.
const modern = name.startsWith('@elastic') && Number(version.split('.')[0]) >= 8;

const env = process.env;
const index = env.CLIENT_INDEX;
const read = env.CLIENT_MODE === 'read';
const absent = read ? '1' : 'none';

const mapping = { mappings: { properties: { n: { type: 'integer' }, tag: { type: 'keyword' }, text: { type: 'text' } } } };
const query = {
  query: { bool: { must: [{ match: { text: 'common' } }], filter: [{ range: { n: { lt: 100 } } }] } },
  aggs: { tags: { terms: { field: 'tag' }, aggs: { most: { max: { field: 'n' } } } } },
  sort: [{ n: 'desc' }], size: 3, track_total_hits: true,
};

function connect(options) {
  return new Client({ node: env.CLIENT_URL, auth: { username: env.CLIENT_USER, password: env.CLIENT_PASSWORD }, ...options });
}

// with_ adds a body to the parameters of a call, as this client wants it.
const with_ = (params, body) => (modern ? { ...params, ...body } : { ...params, body });
const document = (params, body) => (modern ? { ...params, document: body } : { ...params, body });
const plain = (answer) => (modern ? answer : answer.body);
const line = (l) => console.log(JSON.stringify(l));

async function group(group, call) {
  try {
    line({ group, ok: true, saw: await call() });
  } catch (e) {
    line({ group, ok: false, saw: `${e.name}: ${e.message}` });
  }
}

// fails returns the type of the error that call ends with, which has to be of that status.
async function fails(status, call) {
  try {
    await call();
  } catch (e) {
    if (e.statusCode !== status) throw e;
    return [e.name, status];
  }
  throw new Error('it worked, but should not');
}

function check(value) {
  if (!value) throw new Error('the client says no');
  return value;
}

const client = connect();

async function info() {
  const a = plain(await client.info());
  return [a.version.number, a.version.distribution, a.tagline];
}

async function bulk(client) {
  const documents = Array.from({ length: 500 }, (_, n) => ({ n, tag: 't' + (n % 3), text: 'common word' + n }));
  const stats = await client.helpers.bulk({
    datasource: documents, flushBytes: 8000, concurrency: 3, refreshOnCompletion: index,
    onDocument: (d) => ({ index: { _index: index, _id: String(d.n) } }),
  });
  return [stats.total, stats.successful, stats.failed, stats.retry, stats.aborted];
}

// bulkConflict: a refused item is handed to the helper's caller.
async function bulkConflict() {
  const dropped = [];
  const stats = await client.helpers.bulk({
    datasource: [{ n: 1 }, { n: 2 }], retries: 0,
    onDocument: (d) => ({ create: { _index: index, _id: String(d.n) } }),
    onDrop: (d) => dropped.push([d.status, d.error.type, d.document.n]),
  });
  return [stats.failed, dropped];
}

function hits(a) {
  return [a.hits.total, a.hits.hits.map((h) => [h._id, h._source, h.sort]), a.aggregations];
}

const lines = [{}, query, { index }, { query: { term: { tag: 't1' } }, sort: ['n'], size: 2 }, { index: 'clients-none' }, {}];

async function msearch(client) {
  const a = plain(await client.msearch(modern ? { index, searches: lines } : { index, body: lines }));
  return a.responses.map((r) => (r.hits ? hits(r) : [r.status, r.error.type]));
}

async function msearchHelper() {
  const m = client.helpers.msearch({ operations: 2, flushInterval: 50 });
  const answers = await Promise.all([m.search({ index }, query), m.search({ index }, { size: 0 }), m.search({ index }, { size: 0, query: { term: { tag: 't1' } } })]);
  m.stop();
  return answers.map((a) => a.body.hits.total.value);
}

async function scan() {
  let count = 0, sum = 0;
  for await (const page of client.helpers.scrollSearch(with_({ index, size: 70, scroll: '1m' }, { query: { match_all: {} } }))) {
    for (const d of page.documents) { count++; sum += d.n; }
  }
  return [count, sum];
}

async function searchAfter() {
  let count = 0, sum = 0, after;
  for (;;) {
    const body = { sort: [{ n: 'asc' }], size: 90, ...(after && { search_after: after }) };
    const page = plain(await client.search(with_({ index }, body))).hits.hits;
    if (page.length === 0) return [count, sum];
    for (const h of page) { count++; sum += h._source.n; }
    after = page.at(-1).sort;
  }
}

async function fieldCaps() {
  const caps = plain(await client.fieldCaps({ index, fields: '*' })).fields;
  return Object.entries(caps).filter(([f]) => !f.startsWith('_')).map(([f, types]) => [f, Object.keys(types)]).sort();
}

async function aliases() {
  await client.indices.putAlias({ index, name: 'clients-alias' });
  const seen = [plain(await client.indices.getAlias({ index })), plain(await client.count({ index: 'clients-alias' })).count];
  await client.indices.updateAliases(with_({}, { actions: [{ remove: { index, alias: 'clients-alias' } }] }));
  return [...seen, plain(await client.indices.existsAlias({ name: 'clients-alias' }))];
}

async function sniff() {
  const client = connect();
  if (modern) await client.transport.sniff({ reason: 'asked', requestId: 1 });
  else await new Promise((done, failed) => client.transport.sniff({ reason: 'asked' }, (e) => (e ? failed(e) : done())));
  const nodes = client.connectionPool.connections.map((c) => c.url.href).sort();
  return [nodes, plain(await client.count({ index })).count];
}

async function missing() {
  check(plain(await client.indices.exists({ index })));
  return [
    await fails(404, () => client.get({ index, id: absent })),
    await fails(404, () => client.search({ index: 'clients-none' })),
    plain(await client.exists({ index, id: absent })),
  ];
}

async function mget() {
  const { docs } = plain(await client.mget(with_({ index }, { ids: ['9', '1', 'none', '4'] })));
  return docs.map((d) => [d._id, d.found, d._source]);
}

async function reading() {
  await group('get', async () => plain(await client.get({ index, id: '3' }))._source);
  await group('mget', mget);
  await group('missing', missing);
  await group('search', async () => hits(plain(await client.search(with_({ index }, query)))));
  await group('msearch', () => msearch(client));
  await group('msearch helper', msearchHelper);
  await group('count', async () => plain(await client.count(with_({ index }, { query: { term: { tag: 't1' } } }))).count);
  await group('scan', scan);
  await group('search_after', searchAfter);
  await group('field_caps', fieldCaps);
  await group('mapping', async () => plain(await client.indices.getMapping({ index })));
  await group('gzip', () => msearch(connect({ compression: 'gzip' })));
}

async function whole() {
  await group('info', info);
  await group('ping', async () => check(plain(await client.ping())));
  await group('create index', async () => plain(await client.indices.create(with_({ index }, mapping))));
  await group('index', async () => plain(await client.index(document({ index, id: '1' }, { n: 1, tag: 'a' }))).result);
  await group('create', async () => plain(await client.create(document({ index, id: '2' }, { n: 2, tag: 'b' }))).result);
  await group('update', async () => plain(await client.update(with_({ index, id: '2' }, { doc: { tag: 'c' } })))._version);
  await group('read back', async () => plain(await client.get({ index, id: '2' }))._source);
  await group('conflict', () => fails(409, () => client.create(document({ index, id: '2' }, { n: 2 }))));
  await group('delete', async () => [
    plain(await client.delete({ index, id: '1' })).result, await fails(404, () => client.delete({ index, id: '1' }))]);
  await group('bulk', () => bulk(client));
  await group('bulk gzip', () => bulk(connect({ compression: 'gzip' })));
  await group('bulk conflict', bulkConflict);
  await reading();
  await group('aliases', aliases);
  await group('sniff', sniff);
  await group('delete index', async () => plain(await client.indices.delete({ index })));
}

line({ version });
if (read) {
  await reading();
  await group('forbidden', () => fails(403, () => client.index(document({ index, id: 'x' }, { n: 1 }))));
} else {
  await whole();
}
process.exit(0); // idle connections would keep it
