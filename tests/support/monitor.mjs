// A monitor as a process of its own, and agents that dial into it: what the browser and the integration tests share.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';
import { patience, until, within } from './patience.mjs';

export function program(name) {
  const folder = process.env.WATCHBILL_BIN_DIR;
  if (!folder) throw new Error('WATCHBILL_BIN_DIR has to name the folder of the built programs');
  return join(folder, name);
}

const running = new Set();

// For the end of a test file: a monitor that a failed test left behind would keep the runner waiting for ever.
export async function endLeftMonitors() {
  for (const monitor of [...running]) await monitor.stop();
}

const kOwnAddress = /^listening on (http:\/\/[^/]*:(\d+))\//;

// Starts a monitor with a data folder and XDG folders of its own. `args` are added to `--data …`, and to `--no-runner`
// unless `runner` is true; without a `port` it takes a free one. What it wrote to stderr is in `errors()`. `stop()` ends it and takes its folders away,
// `kill()` is kill -9 and leaves them, so that `spawnMonitor({ folder, port })` is the same monitor started again.
export async function spawnMonitor({ args = [], port = 0, folder = null, env = {}, runner = false } = {}) {
  const home = folder ?? mkdtempSync(join(tmpdir(), 'watchbill-monitor-'));
  const child = spawn(program('watchbill-monitor'), ['--port', String(port), '--data', join(home, 'data'), ...(runner ? [] : ['--no-runner']), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: tmpdir(),
      LANG: 'C.UTF-8',
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'share'),
      XDG_STATE_HOME: join(home, 'state'),
      XDG_CACHE_HOME: join(home, 'cache'),
      XDG_RUNTIME_DIR: join(home, 'runtime'),
      ...env,
    },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors = (errors + text).slice(-20_000);
  });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const cleanUp = () => rmSync(home, { recursive: true, force: true });
  const end = async (signal) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return within(10_000, 'the monitor to end', ended);
  };
  const lines = createInterface({ input: child.stdout });
  const first = new Promise((resolve, reject) => {
    child.once('error', reject);
    lines.once('line', resolve);
    ended.then(({ code, signal }) => reject(new Error(`the monitor ended (${code ?? signal}) before it listened: ${errors}`)));
  });
  try {
    const line = await within(10_000, 'the monitor to listen', first);
    const found = kOwnAddress.exec(line);
    if (!found) throw new Error(`the monitor's first line is ${JSON.stringify(line)}`);
    // Whatever it is bound to, it is dialled over loopback.
    const url = `http://127.0.0.1:${found[2]}`;
    const monitor = {
      url,
      line,
      port: Number(found[2]),
      pid: child.pid,
      folder: home,
      errors: () => errors,
      // What it writes comes through a pipe of its own, in its own time.
      said: (pattern) => until(`the monitor to say ${pattern}, not: ${errors}`, () => pattern.test(errors)),
      ended,
      kill: () => {
        running.delete(monitor);
        return end('SIGKILL');
      },
      stop: async () => {
        running.delete(monitor);
        const result = await end('SIGTERM');
        cleanUp();
        return result;
      },
    };
    running.add(monitor);
    return monitor;
  } catch (error) {
    child.kill('SIGKILL');
    if (!folder) cleanUp();
    throw error;
  }
}

// A program that is run to its end: what it wrote, and how it ended.
export async function runProgram(name, args, { env = {}, cwd } = {}) {
  const child = spawn(program(name), args, { stdio: ['ignore', 'pipe', 'pipe'], cwd, env: { PATH: process.env.PATH, HOME: tmpdir(), ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  try {
    const code = await within(20_000, `${name} ${args.join(' ')} to end`, new Promise((resolve) => child.once('close', (c, signal) => resolve(c ?? signal))));
    return { code, stdout, stderr };
  } finally {
    child.kill('SIGKILL');
  }
}

// Somebody who watches over npm's ws: every frame, the rows as they are now, and answers by their `ask`.
export async function watcherClient(url, { rows = false, headers = {} } = {}) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/dashboard`, { headers, perMessageDeflate: false });
  const frames = [];
  const agents = new Map();
  const answers = new Map();
  let lastAsk = 0;
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data));
    frames.push(frame);
    if (frame.type === 'board') {
      agents.clear();
      for (const row of frame.agents) agents.set(row.id, row);
    }
    if (frame.type === 'rows') {
      for (const row of frame.changed) agents.set(row.id, row);
      for (const id of frame.gone) agents.delete(id);
    }
    if (frame.type === 'did') answers.get(frame.ask)?.(frame);
  });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })));
  await within(10_000, 'the dashboard to open', new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  }));
  if (rows) socket.send(JSON.stringify({ type: 'watch', capabilities: ['rows'] }));
  return {
    socket,
    frames,
    agents,
    closed,
    of: (type) => frames.filter((frame) => frame.type === type),
    state: (id) => agents.get(id)?.state ?? 'no row',
    becomes: (id, state, ms = 10_000) => until(`${id} to be ${state} (it is ${agents.get(id)?.state})`, () => (agents.get(id)?.state ?? 'no row') === state, ms),
    ask: (type, id) => {
      const ask = `q-${++lastAsk}`;
      const answer = new Promise((resolve) => answers.set(ask, resolve));
      socket.send(JSON.stringify({ type, id, ask }));
      return within(15_000, `the answer to ${type}`, answer);
    },
    close: () => socket.terminate(),
  };
}

const kRegister = {
  type: 'agent',
  version: '0.21',
  inputs: [],
  outputs: [],
  pid: 1,
  port: 1,
  host: 'machine-a',
  protocol: '0.19',
  capabilities: ['runs', 'live-runs', 'delegation'],
};

// Dials in and registers. `agent` overrides the words of the registration; `id` and `name` are needed.
export async function agentClient(url, agent, { headers = {} } = {}) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/agent`, { headers, perMessageDeflate: false });
  const received = [];
  socket.on('message', (data) => received.push(JSON.parse(String(data))));
  await within(10_000, `agent ${agent.name} to connect`, new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_, response) => reject(new Error(`/agent answered ${response.statusCode}`)));
  }));
  socket.on('error', () => {});
  const send = (frame) => socket.send(JSON.stringify(frame));
  const at = () => new Date().toISOString();
  send({ type: 'register', at: at(), agent: { cwd: `/srv/agents/${agent.id}`, ...kRegister, ...agent } });
  return {
    id: agent.id,
    socket,
    received,
    send,
    enter: (runId, words = {}) => send({ type: 'run', phase: 'enter', runId, startedBy: 'manual', thread: 't', at: at(), ...words }),
    exit: (runId, words = {}) =>
      send({ type: 'run', phase: 'exit', runId, at: at(), durationMs: 1840, outcome: 'done', ok: true, ...words }),
    log: (entry) => send({ type: 'log', entry: { kind: 'llm', name: 'gpt', at: at(), ...entry } }),
    // Resolves with the next frame that `wanted` accepts, among those received before as well.
    frame: (what, wanted) => until(what, () => received.find(wanted)),
    close: () =>
      within(10_000, 'the socket to close', new Promise((resolve) => {
        if (socket.readyState === WebSocket.CLOSED) return resolve();
        socket.once('close', resolve);
        socket.close();
      })),
  };
}

// A UUID that is the same for the same number.
export function agentId(number) {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

// Keys agents in over HTTP.
export async function keyIn(url, entry, headers = {}) {
  const answer = await fetch(`${url}/api/agents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(entry),
    signal: AbortSignal.timeout(patience(10_000)),
  });
  if (!answer.ok) throw new Error(`POST /api/agents answered ${answer.status}: ${await answer.text()}`);
}
