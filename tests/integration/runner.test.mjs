// Starting what has no socket, and ending it: the runner over its own socket, the one in the monitor and one by itself.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { agentId, endLeftMonitors, keyIn, program, spawnMonitor, watcherClient } from '../support/monitor.mjs';
import { until, within } from '../support/patience.mjs';

const AGENT = agentId(1);
let home;
const folders = [];
const children = [];

before(() => {
  home = mkdtempSync(join(tmpdir(), 'watchbill-runner-'));
});

function alive(pid) {
  try {
    process.kill(pid, 0);
    // A zombie has ended, and waits for whoever takes note of it.
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await endLeftMonitors();
  for (const folder of folders) {
    try {
      process.kill(-Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL');
    } catch {
      // ended already, as it should be
    }
  }
  rmSync(home, { recursive: true, force: true });
});

function makeFolder(name, files) {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content, { mode: 0o700 });
  folders.push(folder);
  return folder;
}

const exampleAgent = (name, number) =>
  makeFolder(name, {
    'watchbill.json': JSON.stringify({
      command: ['sh', '-c', `echo $$ > pid; exec ${program('watchbill-example-agent')} --every 300`],
      env: { WATCHBILL_AGENT_ID: agentId(number), WATCHBILL_AGENT_NAME: name },
    }),
  });

const pidOf = (folder) => until('a pid', () => {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8').trim()) || 0;
  } catch {
    return 0;
  }
});

function spawnRunner(monitor, args, data) {
  const child = spawn(program('watchbill-runner'), ['--monitor', monitor.url, '--data', data, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home },
  });
  children.push(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    child,
    errors: () => errors,
    kill: (signal) => {
      child.kill(signal);
      return within(5_000, 'the runner to end', ended);
    },
  };
}

test('M9 Run starts a folder of the list through the embedded runner, and Terminate ends it', async () => {
  const monitor = await spawnMonitor({ runner: true });
  const watcher = await watcherClient(monitor.url, { rows: true });
  const folder = exampleAgent('embedded', 1);
  await keyIn(monitor.url, { id: AGENT, name: 'Embedded', folder });
  await until('a runner', () => watcher.agents.get(AGENT)?.canRun);
  const started = await watcher.ask('run', AGENT);
  assert.equal(started.ok, true, started.error);
  assert.equal(started.folder, folder);
  await watcher.becomes(AGENT, 'running');
  const row = watcher.agents.get(AGENT);
  assert.notEqual(row.startedAt, null);
  assert.equal(row.canRun, false);
  assert.equal(row.host, hostname());
  await until('tokens', () => watcher.agents.get(AGENT).tokens > 0);
  await until('a run that ended', () => watcher.agents.get(AGENT).lastRun !== null);
  assert.equal((await watcher.ask('run', AGENT)).code, 'already-running');
  const pid = await pidOf(folder);
  const ended = await watcher.ask('terminate', AGENT);
  assert.equal(ended.ok, true, ended.error);
  await watcher.becomes(AGENT, 'stopped');
  await until('the process to be gone', () => !alive(pid));
  // And again: it is startable as before.
  assert.equal((await watcher.ask('run', AGENT)).ok, true);
  await watcher.becomes(AGENT, 'running');
  assert.equal((await watcher.ask('terminate', AGENT)).ok, true);
  await monitor.stop();
});

test('M9 an agent outlives the monitor that started it, and can still be ended by the next one', async () => {
  const folder = makeFolder('silent', { 'run.sh': 'echo $$ > pid\nexec sleep 1000\n' });
  let monitor = await spawnMonitor({ runner: true });
  let watcher = await watcherClient(monitor.url, { rows: true });
  await keyIn(monitor.url, { id: AGENT, name: 'Silent', folder });
  await until('a runner', () => watcher.agents.get(AGENT)?.canRun);
  assert.equal((await watcher.ask('run', AGENT)).ok, true);
  await watcher.becomes(AGENT, 'silent');
  const pid = await pidOf(folder);
  await monitor.kill();
  watcher.close();
  assert.ok(alive(pid));
  monitor = await spawnMonitor({ runner: true, folder: monitor.folder, port: monitor.port });
  watcher = await watcherClient(monitor.url, { rows: true });
  await watcher.becomes(AGENT, 'silent');
  assert.equal(watcher.agents.get(AGENT).canTerminate, true);
  assert.match((await watcher.ask('run', AGENT)).error, /It runs already, as process \d+\./);
  assert.equal((await watcher.ask('terminate', AGENT)).ok, true);
  await until('the process to be gone', () => !alive(pid));
  assert.equal((await watcher.ask('terminate', AGENT)).error, 'That agent is not connected, and no runner here started it.');
  await monitor.stop();
});

test('M9 a runner by itself: what it may start, what outlives it, and what it knows again', async () => {
  const monitor = await spawnMonitor();
  const watcher = await watcherClient(monitor.url, { rows: true });
  const folder = exampleAgent('allowed/one', 1);
  const outside = exampleAgent('outside', 2);
  symlinkSync(outside, join(home, 'allowed', 'link'));
  await keyIn(monitor.url, { id: AGENT, name: 'One', folder, host: 'box' });
  await keyIn(monitor.url, { id: agentId(2), name: 'Outside', folder: outside, host: 'box' });
  await keyIn(monitor.url, { id: agentId(3), name: 'Linked', folder: join(home, 'allowed', 'link'), host: 'box' });
  await keyIn(monitor.url, { id: agentId(4), name: 'Relative', folder: 'allowed/one', host: 'box' });
  await keyIn(monitor.url, { id: agentId(5), name: 'Gone', folder: join(home, 'allowed', 'gone'), host: 'box' });
  await keyIn(monitor.url, { id: agentId(6), name: 'Elsewhere', folder, host: 'another-box' });
  const data = join(home, 'runner-data');
  const args = ['--name', 'box', '--allow', join(home, 'allowed')];
  let runner = spawnRunner(monitor, args, data);
  await until('a runner', () => watcher.agents.get(AGENT)?.canRun);
  for (const number of [2, 3]) assert.match((await watcher.ask('run', agentId(number))).error, /may not start .*--allow/);
  assert.match((await watcher.ask('run', agentId(4))).error, /no absolute path/);
  assert.match((await watcher.ask('run', agentId(5))).error, /cannot be used: No such file/);
  assert.equal((await watcher.ask('run', agentId(6))).error, 'No runner is connected on another-box.');

  assert.equal((await watcher.ask('run', AGENT)).ok, true);
  await watcher.becomes(AGENT, 'running');
  const pid = await pidOf(folder);
  await runner.kill('SIGKILL');
  await until('the runner to be gone', () => watcher.agents.get(AGENT).runners === 0);
  assert.ok(alive(pid));
  assert.equal(watcher.state(AGENT), 'running');
  // Its agent is stopped so hard that only its runner can end it.
  process.kill(pid, 'SIGSTOP');
  runner = spawnRunner(monitor, args, data);
  await until('the runner to be back', () => watcher.agents.get(AGENT).runners === 1);
  process.kill(pid, 'SIGCONT');
  assert.equal((await watcher.ask('terminate', AGENT)).ok, true);
  await until('the process to be gone', () => !alive(pid));
  assert.equal((await watcher.ask('run', AGENT)).ok, true);
  await watcher.becomes(AGENT, 'running');
  const second = spawnRunner(monitor, args, data);
  await within(5_000, 'the second runner to be refused', new Promise((resolve) => second.child.once('exit', resolve)));
  assert.equal(second.child.exitCode, 4);
  await until('the reason', () => /another runner \(process \d+\) has the folder/.test(second.errors()));
  assert.equal((await watcher.ask('terminate', AGENT)).ok, true);
  await runner.kill('SIGTERM');
  await monitor.stop();
});

test('M9 a folder with nothing to start, one that is wrong, and an agent that ends at once', async () => {
  const monitor = await spawnMonitor({ runner: true });
  const watcher = await watcherClient(monitor.url, { rows: true });
  const cases = [
    ['empty', {}, /There is nothing to start in .*: it holds none of watchbill\.json, run\.js, run\.py, run\.sh and an executable run\./],
    ['wrong', { 'watchbill.json': '{"command": "x"}' }, /needs `command`/],
    ['missing', { 'watchbill.json': '{"command": ["no-such-program-at-all"]}' }, /cannot start no-such-program-at-all in .*: No such file/],
    ['at-once', { 'run.sh': 'echo "the key is missing" >&2\nexit 3\n' }, /It ended at once \(exit code 3\); its last words: the key is missing/],
    ['without-a-word', { 'run.sh': 'exit 0\n' }, /It ended at once \(exit code 0\), and wrote nothing\./],
  ];
  let number = 10;
  for (const [name, files, sentence] of cases) {
    const id = agentId(++number);
    await keyIn(monitor.url, { id, name, folder: makeFolder(name, files) });
    await until('a runner', () => watcher.agents.get(id)?.canRun);
    const answer = await watcher.ask('run', id);
    assert.equal(answer.ok, false);
    assert.equal(answer.code, 'refused');
    assert.match(answer.error, sentence);
  }
  await monitor.stop();
});

test('M9 the environment: the folder has the last word, and what it leaves unset is filled in', async () => {
  const monitor = await spawnMonitor({ runner: true });
  const watcher = await watcherClient(monitor.url, { rows: true });
  const folder = makeFolder('environment', {
    'run.py': 'import os, time\nopen("env", "w").write("\\n".join(f"{k}={v}" for k, v in os.environ.items()))\nopen("pid", "w").write(str(os.getpid()))\ntime.sleep(1000)\n',
    '.env': 'MONITOR_TOKEN=of-the-folder\nPLAIN="a b"\n',
  });
  await keyIn(monitor.url, { id: AGENT, name: 'Environment', folder });
  await until('a runner', () => watcher.agents.get(AGENT)?.canRun);
  assert.equal((await watcher.ask('run', AGENT)).ok, true);
  await pidOf(folder);
  const env = readFileSync(join(folder, 'env'), 'utf8').split('\n');
  assert.ok(env.includes(`MONITOR_URL=${monitor.url}`));
  assert.ok(env.includes('MONITOR_TOKEN=of-the-folder'));
  assert.ok(env.includes('PLAIN=a b'));
  assert.equal((await watcher.ask('terminate', AGENT)).ok, true);
  await monitor.stop();
});
