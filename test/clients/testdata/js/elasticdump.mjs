// Runs the scenario with elasticdump: out of an index, into one, and from one to another.
//
// Prints a line of JSON for each group: what was seen in the end, or elasticdump's own error.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const env = process.env;
const index = env.CLIENT_INDEX;
const login = `${env.CLIENT_USER}:${env.CLIENT_PASSWORD}`;
const address = env.CLIENT_URL.replace('://', `://${login}@`);
const dir = mkdtempSync(join(tmpdir(), 'guard-client-'));
const line = (l) => console.log(JSON.stringify(l));

// dump runs elasticdump.
function dump(...args) {
  return new Promise((done, failed) => {
    execFile('node', ['node_modules/elasticdump/bin/elasticdump', '--limit=90', '--fsCompress=false', ...args], (error, out, err) => {
      const said = out + err;
      if (!error && !/Error Emitted/.test(said)) return done();
      failed(new Error(said.split('\n').filter((l) => /error/i.test(l)).map((l) => l.replace(/^[^|]*\|/, '')).join(' ').slice(0, 400) || error.message));
    });
  });
}

async function ask(method, path, body) {
  const answer = await fetch(env.CLIENT_URL + path, {
    method, body, headers: { authorization: 'Basic ' + btoa(login), 'content-type': path.endsWith('_bulk') ? 'application/x-ndjson' : 'application/json' },
  });
  const json = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(json)}`);
  return json;
}

async function group(group, call) {
  try {
    line({ group, ok: true, saw: await call() });
  } catch (e) {
    line({ group, ok: false, saw: `${e.name}: ${e.message}` });
  }
}

const rows = (file) => readFileSync(file, 'utf8').trim().split('\n').map(JSON.parse).sort((a, b) => a._id - b._id);

// contents are what an index holds: a count and a sum.
async function contents(index) {
  await ask('POST', `/${index}/_refresh`);
  const a = await ask('POST', `/${index}/_search`, JSON.stringify({ size: 0, track_total_hits: true, aggs: { sum: { sum: { field: 'n' } } } }));
  return [a.hits.total.value, a.aggregations.sum.value];
}

async function out(index) {
  const file = join(dir, 'out.json');
  rmSync(file, { force: true });
  await dump(`--input=${address}/${index}`, `--output=${file}`, '--type=data');
  const docs = rows(file);
  return [docs.length, docs[0]._source, docs.reduce((sum, d) => sum + d._source.n, 0)];
}

// about returns what elasticdump writes down of an index: mapping, settings or alias.
async function about(index, type) {
  const file = join(dir, type + '.json');
  rmSync(file, { force: true });
  await dump(`--input=${address}/${index}`, `--output=${file}`, '--type=' + type);
  const text = JSON.parse(readFileSync(file, 'utf8'));
  return typeof text === 'string' ? JSON.parse(text) : text; // some come as text within text
}

line({ version: JSON.parse(readFileSync('node_modules/elasticdump/package.json')).version });
const file = join(dir, 'in.json');
const mapping = join(dir, 'in-mapping.json');
const docs = Array.from({ length: 500 }, (_, n) => ({ _index: 'elsewhere', _id: String(n), _source: { n, tag: 't' + (n % 3), text: 'common word' + n } }));
writeFileSync(file, docs.map((d) => JSON.stringify(d)).join('\n') + '\n');
writeFileSync(mapping, JSON.stringify({ elsewhere: { mappings: { properties: { n: { type: 'integer' }, tag: { type: 'keyword' }, text: { type: 'text' } } } } }) + '\n');
await group('mapping in', async () => {
  await dump(`--input=${mapping}`, `--output=${address}/${index}`, '--type=mapping');
  return ask('GET', `/${index}/_mapping`);
});
await group('data in', async () => {
  await dump(`--input=${file}`, `--output=${address}/${index}`, '--type=data');
  return contents(index);
});
await group('mapping out', () => about(index, 'mapping'));
await group('data out', () => out(index));
await group('search out', async () => {
  const file = join(dir, 'some.json');
  await dump(`--input=${address}/${index}`, `--output=${file}`, '--type=data', '--searchBody={"query":{"term":{"tag":"t1"}}}');
  return rows(file).length;
});
await group('settings out', async () => Object.keys((await about(index, 'settings'))[index].settings.index).sort());
await group('copy', async () => {
  await dump(`--input=${address}/${index}`, `--output=${address}/clients-b`, '--type=data');
  return contents('clients-b');
});
await group('alias', async () => {
  await ask('PUT', `/${index}/_alias/clients-alias`);
  return about(index, 'alias');
});
rmSync(dir, { recursive: true });
