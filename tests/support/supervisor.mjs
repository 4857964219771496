// A supervisor as a process of its own, with a configuration that was written for the test.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { program } from './monitor.mjs';
import { within } from './patience.mjs';

const running = new Set();

// For the end of a test file: a supervisor that a failed test left behind would keep the runner waiting for ever.
export async function endLeftSupervisors() {
  for (const supervisor of [...running]) await supervisor.stop();
}

// The example agent of the protocol's own SDK, in this Node: it asks to change a configuration file.
export function sdkAgent(name, more = {}) {
  const entry = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk');
  return { name, command: process.execPath, args: ['--experimental-global-webcrypto', join(dirname(entry), 'examples', 'agent.js')], ...more };
}

// Our own example agent: Markdown word by word, a plan, a diff, a question, commands and usage.
export function exampleAgent(name, more = {}, extra = []) {
  return { name, command: program('watchbill-example-agent'), args: ['--acp', ...extra], ...more };
}

const kOwnAddress = /^listening on (http:\/\/[^/]*:(\d+))\//;
const kLink = /http:\/\/\S+\/open\/\S+/;

// Starts `watchbill-supervisor serve` with XDG folders of its own. `config` is the configuration; `link` works once.
// `stop()` ends it and takes its folders away, `end()` ends it and leaves them, so that
// `spawnSupervisor({ folder, port })` is the same supervisor started again. `through` is a command that becomes it.
export async function spawnSupervisor({ config, args = [], port = 0, folder = null, env = {}, through = [] }) {
  const home = folder ?? mkdtempSync(join(tmpdir(), 'watchbill-supervisor-'));
  const file = join(home, 'supervisor.yaml');
  const runtime = join(home, 'runtime');
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  // JSON is YAML.
  if (config) writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config, null, 2));
  const [command, ...rest] = [...through, program('watchbill-supervisor'), 'serve', '--config', file, '--port', String(port), ...args];
  const child = spawn(command, rest, {
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
      XDG_RUNTIME_DIR: runtime,
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
    return within(20_000, 'the supervisor to end', ended);
  };
  const said = [];
  const two = new Promise((resolve, reject) => {
    child.once('error', reject);
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line);
      if (said.length === 2) resolve();
    });
    ended.then(({ code, signal }) => reject(new Error(`the supervisor ended (${code ?? signal}) before it listened: ${errors}`)));
  });
  try {
    await within(20_000, 'the supervisor to listen', two);
    const address = kOwnAddress.exec(said[0]);
    const link = kLink.exec(said[1]);
    if (!address || !link) throw new Error(`the supervisor's first lines are ${JSON.stringify(said)}`);
    const supervisor = {
      url: address[1],
      port: Number(address[2]),
      link: link[0],
      pid: child.pid,
      folder: home,
      config: file,
      errors: () => errors,
      ended,
      end: () => {
        running.delete(supervisor);
        return end('SIGTERM');
      },
      stop: async () => {
        running.delete(supervisor);
        const result = await end('SIGTERM');
        cleanUp();
        return result;
      },
    };
    running.add(supervisor);
    return supervisor;
  } catch (error) {
    child.kill('SIGKILL');
    if (!folder) cleanUp();
    throw error;
  }
}
