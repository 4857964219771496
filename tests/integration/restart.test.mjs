// The monitor is killed, again and again: nothing that was promised is lost, and whoever was there comes back.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { agentId, endLeftMonitors, keyIn, program, spawnMonitor, watcherClient } from '../support/monitor.mjs';
import { patience, until } from '../support/patience.mjs';

const children = [];
const home = mkdtempSync(join(tmpdir(), 'watchbill-restart-'));
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await endLeftMonitors();
  rmSync(home, { recursive: true, force: true });
});

function exampleAgent(monitor, number) {
  const child = spawn(program('watchbill-example-agent'),
    ['--monitor', monitor.url, '--folder', home, '--id', agentId(number), '--name', `Agent ${number}`, '--every', '200', '--host', 'box'],
    { stdio: 'ignore', env: { PATH: process.env.PATH, HOME: home } });
  children.push(child);
  return child;
}

test('twenty kills of the monitor while three agents report', { timeout: patience(280_000) }, async () => {
  let monitor = await spawnMonitor();
  const port = monitor.port;
  const agents = [1, 2, 3].map((number) => exampleAgent(monitor, number));
  const listed = [];
  for (let kill = 0; kill < 20; ++kill) {
    const watcher = await watcherClient(monitor.url, { rows: true });
    for (const number of [1, 2, 3]) await watcher.becomes(agentId(number), 'running', 35_000);
    await until('work to be reported', () => watcher.of('log').length > 0 && watcher.of('run').length > 0);
    // One more on the list each time: promised once it is answered.
    await keyIn(monitor.url, { id: agentId(100 + kill), name: `Listed ${kill}` });
    listed.push(agentId(100 + kill));
    // The last word is cut off in the middle of a write, or before it; either way it was not promised.
    const cut = kill % 2 === 0 ? keyIn(monitor.url, { id: agentId(500), name: 'Perhaps' }).catch(() => {}) : null;
    await monitor.kill();
    await cut;
    watcher.close();

    const file = JSON.parse(readFileSync(join(monitor.folder, 'data', 'agents.json'), 'utf8'));
    assert.deepEqual(file.agents.map((agent) => agent.id).filter((id) => id !== agentId(500)), listed);
    monitor = await spawnMonitor({ port, folder: monitor.folder });
    const answer = await (await fetch(`${monitor.url}/api/agents`, { signal: AbortSignal.timeout(patience(5_000)) })).json();
    assert.deepEqual(answer.map((agent) => agent.id).filter((id) => id !== agentId(500)), listed);
  }
  const watcher = await watcherClient(monitor.url);
  for (const number of [1, 2, 3]) await watcher.becomes(agentId(number), 'running', 35_000);
  for (const id of listed) assert.equal(watcher.state(id) === 'waiting' || watcher.state(id) === 'unseen', true);
  for (const agent of agents) assert.equal(agent.exitCode, null);
  assert.deepEqual(readdirSync(join(monitor.folder, 'data')).filter((name) => name.endsWith('.new')).length <= 1, true);
  for (const agent of agents) agent.kill('SIGTERM');
  for (const number of [1, 2, 3]) await watcher.becomes(agentId(number), 'stopped');
  await monitor.stop();
});

test('M1 the monitor ends in order: watchers are told, agents go on', async () => {
  const monitor = await spawnMonitor();
  const agent = exampleAgent(monitor, 4);
  const watcher = await watcherClient(monitor.url);
  await watcher.becomes(agentId(4), 'running');
  const result = await monitor.stop();
  assert.equal(result.code, 0);
  assert.equal((await watcher.closed).code, 1001);
  assert.equal(agent.exitCode, null);
  agent.kill('SIGTERM');
  await until('the agent to end by itself', () => agent.exitCode !== null);
  assert.equal(agent.exitCode, 0);
});
