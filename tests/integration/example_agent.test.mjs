// The example agent against a board: what a newcomer sees moving.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { agentId, endLeftMonitors, program, spawnMonitor, watcherClient } from '../support/monitor.mjs';
import { until, within } from '../support/patience.mjs';

const children = [];
const home = mkdtempSync(join(tmpdir(), 'watchbill-example-'));
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await endLeftMonitors();
  rmSync(home, { recursive: true, force: true });
});

async function exampleAgent(monitor, number, args = []) {
  const child = spawn(program('watchbill-example-agent'),
    ['--monitor', monitor.url, '--folder', home, '--id', agentId(number), '--name', 'Example', ...args],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { PATH: process.env.PATH, HOME: home } });
  children.push(child);
  const line = await within(5_000, 'its door', new Promise((resolve) => child.stdout.setEncoding('utf8').once('data', resolve)));
  return { child, door: /http:\S+/.exec(line)[0] };
}

test('it runs by itself, with tokens, steps and a delegation', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url, { rows: true });
  await exampleAgent(monitor, 1, ['--every', '150', '--seed', '3']);
  await watcher.becomes(agentId(1), 'running');
  await until('a delegated run that ended', () => watcher.of('run').some((f) => f.run.parentRunId && f.run.state !== 'running'), 30_000);
  await until('a run that ended', () => watcher.of('run').some((f) => f.run.parentRunId === null && f.run.state === 'ok'), 30_000);
  const child = watcher.of('run').filter((f) => f.run.parentRunId).at(-1).run;
  assert.equal(child.agent, 'Dispatch desk');
  const parent = watcher.of('run').filter((f) => f.run.runId === child.parentRunId).at(-1).run;
  assert.ok(parent.totalTokens > parent.tokens);
  assert.ok(parent.steps.length >= 2);
  const row = watcher.agents.get(agentId(1));
  const counted = new Map(watcher.of('log').map((f) => [f.entry.id, f.entry.tokens?.total ?? 0]));
  const sum = [...counted.values()].reduce((a, b) => a + b, 0);
  assert.equal(watcher.of('log').at(-1).tokens, sum);
  assert.deepEqual(row.can, ['runs', 'live-runs', 'delegation', 'stand-up']);
  await monitor.stop();
});

test('it runs when it is asked, and ends when the board says so', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url, { rows: true });
  const { child, door } = await exampleAgent(monitor, 2, ['--every', '0']);
  await watcher.becomes(agentId(2), 'running');
  assert.equal(watcher.of('run').length, 0);
  const answer = await fetch(`${door}run`, { method: 'POST' });
  assert.equal(answer.status, 202);
  const { runId } = await answer.json();
  await until('the run', () => watcher.of('run').some((f) => f.run.runId === runId && f.run.startedBy === 'manual'));
  assert.equal((await fetch(`${door}nothing`)).status, 404);
  assert.equal((await (await fetch(door)).json()).name, 'Example');
  assert.equal((await watcher.ask('terminate', agentId(2))).ok, true);
  await watcher.becomes(agentId(2), 'stopped');
  await until('its end', () => child.exitCode !== null);
  assert.equal(child.exitCode, 0);
  await monitor.stop();
});

test('P12 a second copy of it stands down, and works when the first is gone', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url, { rows: true });
  const first = await exampleAgent(monitor, 3, ['--every', '0']);
  await watcher.becomes(agentId(3), 'running');
  const second = await exampleAgent(monitor, 3, ['--every', '0']);
  await until('the copy to refuse work', async () => (await fetch(`${second.door}run`, { method: 'POST' })).status === 503);
  first.child.kill('SIGKILL');
  await until('the copy to take work', async () => (await fetch(`${second.door}run`, { method: 'POST' })).status === 202);
  await watcher.becomes(agentId(3), 'running');
  await monitor.stop();
});
