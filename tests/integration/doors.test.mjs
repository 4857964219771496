// Who is let in, and what the server says to those who are not.
import assert from 'node:assert/strict';
import http from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import WebSocket from 'ws';
import { agentClient, agentId, endLeftMonitors, keyIn, spawnMonitor, watcherClient } from '../support/monitor.mjs';
import { within } from '../support/patience.mjs';

after(endLeftMonitors);

const TOKEN = 'a-token-for-this-test-alone';
let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchbill-doors-'));
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`, { mode: 0o600 });
});
after(() => rmSync(folder, { recursive: true, force: true }));

// fetch() does not let a test choose Host and Origin.
function ask(monitor, { method = 'GET', path = '/', headers = {}, body } = {}) {
  return within(10_000, `${method} ${path}`, new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: monitor.port, method, path, headers, agent: false }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        let json = null;
        try {
          json = JSON.parse(text);
        } catch {
          // not every answer is JSON
        }
        resolve({ status: response.statusCode, headers: response.headers, text, json });
      });
    });
    request.on('error', reject);
    request.end(body);
  }));
}

// The status that a WebSocket handshake is answered with; 101 where it opens.
function knock(monitor, path, headers = {}) {
  return within(10_000, `a handshake with ${path}`, new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${monitor.port}${path}`, { headers });
    socket.on('open', () => {
      resolve(101);
      socket.terminate();
    });
    socket.on('unexpected-response', (request, response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    socket.on('error', () => {});
  }));
}

test('M1 the page comes compressed, tagged, and under a strict policy', async () => {
  const monitor = await spawnMonitor();
  const plain = await ask(monitor);
  assert.equal(plain.status, 200);
  assert.match(plain.headers['content-type'], /^text\/html/);
  assert.match(plain.headers['content-security-policy'], /default-src 'none'.*require-trusted-types-for 'script'/);
  assert.equal(plain.headers['x-content-type-options'], 'nosniff');
  assert.equal(plain.headers['referrer-policy'], 'no-referrer');
  const script = /src="([^"]+\.js)"/.exec(plain.text)[1].replace(/^\.?\/?/, '/');
  const raw = await ask(monitor, { path: script });
  assert.equal(raw.headers['cache-control'], 'public, max-age=31536000, immutable');
  for (const coding of ['br', 'gzip']) {
    const packed = await ask(monitor, { path: script, headers: { 'Accept-Encoding': coding } });
    assert.equal(packed.headers['content-encoding'], coding);
    assert.ok(Number(packed.headers['content-length']) < raw.text.length / 2);
    assert.notEqual(packed.headers.etag, raw.headers.etag);
    const again = await ask(monitor, { path: script, headers: { 'Accept-Encoding': coding, 'If-None-Match': packed.headers.etag } });
    assert.equal(again.status, 304);
    assert.equal(again.text, '');
    assert.match(again.headers['content-security-policy'], /default-src 'none'/);
  }
  const head = await ask(monitor, { method: 'HEAD', path: script });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.equal(Number(head.headers['content-length']), raw.text.length);
  for (const path of ['/../etc/passwd', '/%2e%2e/etc/passwd', '/nothing', '/index.html/']) {
    assert.equal((await ask(monitor, { path })).status, 404, path);
  }
  assert.equal((await ask(monitor, { path: '/healthz' })).status, 200);
  assert.equal((await ask(monitor, { path: '/agent' })).status, 426);
  assert.equal((await ask(monitor, { method: 'POST' })).status, 405);
  await monitor.stop();
});

test('M2 another Host is refused before anything else, on every door', async () => {
  const monitor = await spawnMonitor();
  for (const host of ['evil.example', `evil.example:${monitor.port}`, '127.0.0.1.evil.example', '10.0.0.1']) {
    const refused = await ask(monitor, { headers: { Host: host } });
    assert.equal(refused.status, 421, host);
    assert.match(refused.json.error, /--name/);
    for (const path of ['/agent', '/runner', '/dashboard']) assert.equal(await knock(monitor, path, { Host: host }), 421);
  }
  assert.equal((await ask(monitor, { headers: { Host: `localhost:${monitor.port}` } })).status, 200);
  await monitor.stop();
});

test('M2 a page of another site drives nothing', async () => {
  const monitor = await spawnMonitor();
  for (const origin of ['http://evil.example', 'null', `http://localhost:${monitor.port}`, 'http://127.0.0.1:1']) {
    assert.equal(await knock(monitor, '/dashboard', { Origin: origin }), 403, origin);
    const post = await ask(monitor, { method: 'POST', path: '/api/agents', headers: { Origin: origin }, body: JSON.stringify({ id: agentId(1), name: 'A' }) });
    assert.equal(post.status, 403, origin);
    assert.equal((await ask(monitor, { method: 'DELETE', path: `/api/agents/${agentId(1)}`, headers: { Origin: origin } })).status, 403);
  }
  assert.equal(await knock(monitor, '/dashboard', { Origin: `http://127.0.0.1:${monitor.port}` }), 101);
  assert.deepEqual((await ask(monitor, { path: '/api/agents' })).json, []);
  await monitor.stop();
});

test('M2 with a token, whoever dials in shows it; a wrong one is a 401 at the handshake', async () => {
  const monitor = await spawnMonitor({ args: ['--token-file', join(folder, 'token')] });
  for (const path of ['/agent', '/runner']) {
    assert.equal(await knock(monitor, path), 401);
    assert.equal(await knock(monitor, path, { 'x-monitor-token': `${TOKEN}x` }), 401);
    assert.equal(await knock(monitor, path, { 'x-monitor-token': '' }), 401);
    assert.equal(await knock(monitor, path, { 'x-monitor-token': TOKEN }), 101);
  }
  const agent = await agentClient(monitor.url, { id: agentId(1), name: 'A' }, { headers: { 'x-monitor-token': TOKEN } });
  const watcher = await watcherClient(monitor.url);
  await watcher.becomes(agentId(1), 'running');
  assert.ok(!monitor.errors().includes(TOKEN), 'a token is never in a log');
  await agent.close();
  await monitor.stop();
});

test('M2 bound elsewhere, a browser signs in with the token, and the session is a cookie that scripts cannot read', async () => {
  const monitor = await spawnMonitor({ args: ['--host', '0.0.0.0', '--token-file', join(folder, 'token')] });
  assert.equal((await ask(monitor, { path: '/api/agents' })).status, 401);
  const turned = await watcherClient(monitor.url);
  const { code } = await within(5_000, 'to be turned away', turned.closed);
  assert.equal(code, 1008);
  assert.deepEqual(turned.frames.map((frame) => frame.type), ['signIn']);
  assert.equal((await ask(monitor, { method: 'POST', path: '/api/session', body: '{"token":"wrong"}' })).status, 401);
  assert.equal((await ask(monitor, { method: 'POST', path: '/api/session', body: 'not JSON' })).status, 400);
  const signedIn = await ask(monitor, { method: 'POST', path: '/api/session', body: JSON.stringify({ token: TOKEN }) });
  assert.equal(signedIn.status, 204);
  const [cookie] = signedIn.headers['set-cookie'];
  assert.match(cookie, /HttpOnly; SameSite=Strict/);
  const headers = { Cookie: cookie.split(';')[0] };
  assert.equal((await ask(monitor, { path: '/api/agents', headers })).status, 200);
  const watcher = await watcherClient(monitor.url, { headers });
  await keyIn(monitor.url, { id: agentId(1), name: 'A' }, headers);
  await watcher.becomes(agentId(1), 'waiting');
  assert.equal((await ask(monitor, { method: 'DELETE', path: '/api/session', headers })).status, 204);
  assert.equal((await ask(monitor, { path: '/api/agents', headers })).status, 401);
  await monitor.stop();
});

test('M7 the list: keyed in, changed, forgotten, and what is wrong with an entry is said by member', async () => {
  const monitor = await spawnMonitor();
  const post = (body) => ask(monitor, { method: 'POST', path: '/api/agents', body: typeof body === 'string' ? body : JSON.stringify(body) });
  assert.equal((await post({ id: agentId(1), name: 'A', folder: '/srv/a' })).status, 201);
  assert.equal((await post({ id: agentId(1), name: 'A again' })).status, 200);
  assert.deepEqual((await ask(monitor, { path: '/api/agents' })).json, [{ id: agentId(1), name: 'A again', folder: null, host: null, note: null }]);
  for (const [body, field] of [[{ name: 'A' }, 'id'], [{ id: 'x', name: 'A' }, 'id'], [{ id: agentId(2) }, 'name'], [{ id: agentId(2), name: '  ' }, 'name'],
    [{ id: agentId(2), name: 'A', note: 7 }, 'note'], ['not JSON', undefined], ['[]', undefined]]) {
    const refused = await post(body);
    assert.equal(refused.status, 400);
    assert.equal(refused.json.field, field);
    assert.ok(refused.json.error.length > 10);
  }
  assert.equal((await post('x'.repeat(2 << 20))).status, 413);
  assert.equal((await ask(monitor, { method: 'DELETE', path: `/api/agents/${agentId(9)}` })).status, 404);
  assert.equal((await ask(monitor, { method: 'DELETE', path: `/api/agents/${agentId(1)}` })).status, 204);
  assert.equal((await ask(monitor, { method: 'PUT', path: '/api/agents' })).status, 405);
  assert.deepEqual((await ask(monitor, { path: '/api/agents' })).json, []);
  await monitor.stop();
});

test('M10 the list is edited by hand and read again; one that cannot be read leaves the one before', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url);
  const file = join(monitor.folder, 'data', 'agents.json');
  writeFileSync(file, JSON.stringify({ agents: [{ id: agentId(5), name: 'By hand', folder: '/srv/x' }] }));
  await watcher.becomes(agentId(5), 'waiting');
  writeFileSync(file, '{"agents": [');
  await monitor.said(/cannot be read; the one before stays/);
  assert.equal(watcher.state(agentId(5)), 'waiting');
  writeFileSync(file, '{"agents": []}');
  await watcher.becomes(agentId(5), 'no row');
  await monitor.stop();
});
