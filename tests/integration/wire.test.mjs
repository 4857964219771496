// The frames of the protocol's own document, sent by a client made of npm's ws and nothing else.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import WebSocket from 'ws';
import { endLeftMonitors, spawnMonitor, watcherClient } from '../support/monitor.mjs';
import { until, within } from '../support/patience.mjs';

after(endLeftMonitors);

const ID = 'bbed7a48-0000-4000-8000-000000000001';

const REGISTER = `{ "at": "2026-10-01T18:12:00.000Z",
  "type": "register",
  "agent": { "type": "agent", "id": "${ID}", "name": "Israeli News",
             "version": "0.21", "inputs": [], "outputs": ["headlines"],
             "pid": 10364, "port": 50610, "host": "ODETA-PC",
             "cwd": "C:\\\\Dev\\\\Apps\\\\israelinews",
             "protocol": "0.7",
             "capabilities": ["runs", "live-runs", "delegation", "delegation-cycle", "users", "requires",
                              "pairing", "health", "pause"] } }`;
const ENTER = '{ "type": "run", "phase": "enter", "runId": "6f2c…", "startedBy": "manual", "thread": "9ae9…", "at": "…" }';
const EXIT =
  '{ "type": "run", "phase": "exit", "runId": "6f2c…", "startedBy": "manual", "thread": "9ae9…", "at": "…", "durationMs": 1840, "outcome": "done", "ok": true }';
const LOG =
  '{ "type": "log", "entry": { "id": 41, "kind": "run", "at": "…", "tokens": { "total": 812 }, "cost": 0.0021, "withheld": ["input", "outputs"] } }';

async function dial(monitor) {
  const socket = new WebSocket(`${monitor.url.replace('http', 'ws')}/agent`);
  await within(5_000, 'the agent to connect', new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject)));
  return socket;
}

for (const rows of [false, true]) {
  test(`B1 B5 M1 the document's own frames, watched ${rows ? 'by rows' : 'by whole boards'}`, async () => {
    const monitor = await spawnMonitor();
    const watcher = await watcherClient(monitor.url, { rows });
    const socket = await dial(monitor);
    socket.send(REGISTER);
    await watcher.becomes(ID, 'running');
    const row = watcher.agents.get(ID);
    assert.equal(row.name, 'Israeli News');
    assert.equal(row.host, 'ODETA-PC');
    assert.equal(row.folder, 'C:\\Dev\\Apps\\israelinews');
    assert.equal(row.port, 50610);
    assert.equal(row.tokens, null);
    assert.equal(row.lastRun, null);

    socket.send(ENTER);
    await until('the run to be in flight', () => watcher.agents.get(ID).current.running === 1);
    for (let i = 0; i < 5; ++i) socket.send(LOG);
    await until('five lines', () => watcher.of('log').length === 5);
    for (const line of watcher.of('log')) {
      assert.equal(line.id, ID);
      assert.equal(line.tokens, 812);
      assert.deepEqual(line.spend, { tokens: 812, agents: 1, of: 1 });
      assert.deepEqual(line.entry.withheld, ['input', 'outputs']);
      assert.equal(line.entry.cost, 0.0021);
      assert.equal(line.dropped, null);
    }
    socket.send(EXIT);
    await until('the run to have ended', () => watcher.agents.get(ID).lastRun !== null);
    assert.equal(watcher.agents.get(ID).lastRun.ok, true);
    assert.equal(watcher.agents.get(ID).tokens, 812);
    assert.deepEqual(watcher.agents.get(ID).current, { running: 0, waiting: 0 });
    const runs = watcher.of('run');
    assert.equal(runs.at(-1).run.state, 'ok');
    assert.equal(runs.at(-1).run.durationMs, 1840);

    socket.terminate();
    await watcher.becomes(ID, 'stopped');
    assert.equal(watcher.agents.get(ID).tokens, 812);
    assert.equal(watcher.of(rows ? 'rows' : 'board').length > 1, true);
    watcher.close();
    assert.equal((await monitor.stop()).code, 0);
  });
}

test('B1 leaving is heard before the socket closes; an agent without an id is shown while it is there', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url, { rows: true });
  const socket = await dial(monitor);
  socket.send(REGISTER);
  await watcher.becomes(ID, 'running');
  socket.send('{"type":"leaving"}');
  await watcher.becomes(ID, 'stopped');
  const nobody = await dial(monitor);
  nobody.send('{"type":"register","agent":{"id":null,"host":"box","cwd":"/srv/x"}}');
  await watcher.becomes('no-id:box:/srv/x', 'unidentified');
  nobody.terminate();
  await watcher.becomes('no-id:box:/srv/x', 'no row');
  socket.terminate();
  await monitor.stop();
});

test('P4 frames that are none are skipped: nothing is answered, nothing is lost, the process lives', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url);
  const socket = await dial(monitor);
  let answers = 0;
  socket.on('message', () => ++answers);
  socket.send(REGISTER);
  for (const junk of ['', 'not JSON', '[]', '{}', '{"type":7}', '\u0000', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, '{"type":"log","entry":{"id":1,"tokens":{"total":1e999}}}',
    `{"type":"log","entry":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`, '{"type":"constructor"}', '{"type":"__proto__"}']) {
    socket.send(junk);
  }
  socket.send(Buffer.from([0xff, 0x00, 0x7b]));  // binary: none of the protocol's
  socket.send(LOG);
  await until('the line behind all that', () => watcher.of('log').length === 1);
  assert.equal(watcher.agents.get(ID)?.state, 'running');
  assert.equal(answers, 0);
  // With an ask, a word that nobody knows is answered with a sentence.
  socket.send('{"type":"constructor","ask":"a-1"}');
  await until('an answer', () => answers === 1);
  await monitor.said(/could not be read and was skipped/);
  socket.terminate();
  await monitor.stop();
});

test('P4 a frame of 100 MB ends its socket and nothing else', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url);
  const socket = await dial(monitor);
  socket.send(REGISTER);
  await watcher.becomes(ID, 'running');
  const closed = new Promise((resolve) => socket.once('close', (code) => resolve(code)));
  socket.on('error', () => {});
  socket.send(`{"type":"log","entry":{"text":"${'x'.repeat(100 << 20)}"}}`);
  const code = await within(20_000, 'the socket to be closed', closed);
  assert.ok(code === 1009 || code === 1006, `closed with ${code}`);
  await watcher.becomes(ID, 'stopped');
  const again = await dial(monitor);
  again.send(REGISTER);
  await watcher.becomes(ID, 'running');
  again.terminate();
  await monitor.stop();
});

test('P12 a second copy stands down, and takes over when the first is gone', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url);
  const first = await dial(monitor);
  first.send(REGISTER);
  await watcher.becomes(ID, 'running');
  const second = await dial(monitor);
  const heard = [];
  second.on('message', (data) => heard.push(JSON.parse(String(data)).type));
  second.send(REGISTER.replace('Israeli News', 'The copy'));
  await until('the copy to be told', () => heard.includes('duplicate'));
  assert.equal(watcher.agents.get(ID).name, 'Israeli News');
  first.terminate();
  await until('the copy to be let back', () => heard.includes('may-return'));
  second.send(REGISTER.replace('Israeli News', 'The copy'));
  await until('the copy to be the row', () => watcher.agents.get(ID).name === 'The copy' && watcher.state(ID) === 'running');
  second.terminate();
  await monitor.stop();
});

test('M3 what a watcher may ask is a table: any other word is refused with a sentence', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url);
  const unknown = await watcher.ask('explode', ID);
  assert.deepEqual([unknown.ok, unknown.error, unknown.code], [false, 'no such command: explode', 'no-such-command']);
  assert.equal((await watcher.ask('constructor', ID)).ok, false);
  assert.equal((await watcher.ask('run', undefined)).code, 'bad-frame');
  assert.equal((await watcher.ask('run', 'nobody')).code, 'unknown-agent');
  const socket = await dial(monitor);
  socket.send(REGISTER);
  await watcher.becomes(ID, 'running');
  socket.terminate();
  await watcher.becomes(ID, 'stopped');
  const noRunner = await watcher.ask('run', ID);
  assert.equal(noRunner.error, 'No runner is connected on ODETA-PC.');
  assert.deepEqual(noRunner.args, { host: 'ODETA-PC' });
  assert.equal((await watcher.ask('terminate', ID)).error, 'That agent is not connected, and no runner here started it.');
  await monitor.stop();
});

test('P5 an agent that does not answer is said not to have answered; one that goes meanwhile at once', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url);
  const socket = await dial(monitor);
  const questions = [];
  socket.on('message', (data) => questions.push(JSON.parse(String(data))));
  socket.send(REGISTER);
  await watcher.becomes(ID, 'running');
  const began = Date.now();
  const answer = watcher.ask('terminate', ID);
  const question = await until('the question', () => questions[0]);
  assert.equal(question.type, 'terminate');
  assert.ok(question.ask);
  const silent = await answer;
  assert.deepEqual([silent.ok, silent.error], [false, 'It did not answer.']);
  assert.ok(Date.now() - began >= 9_000);
  socket.send(JSON.stringify({ type: 'ok', of: 'terminate', ask: question.ask }));  // too late: nobody waits
  const second = watcher.ask('terminate', ID);
  await until('the second question', () => questions[1]);
  assert.notEqual(questions[1].ask, question.ask);
  socket.terminate();
  // Well before the ten seconds are over: nobody is left who could answer.
  assert.equal((await within(5_000, 'the answer of nobody', second)).error, 'It did not answer.');
  await monitor.stop();
});
