// watchbill-supervisor ask, and an agent that goes wrong as it is told: what is seen of that, and what is left of it.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { program } from './monitor.mjs';
import { until, within } from './patience.mjs';

export const kAgent = new URL('../agents/misbehaving_agent.py', import.meta.url).pathname;
const kPython = '/usr/bin/python3';

// A word of a command line.
const quoted = (word) => `'${String(word).replaceAll("'", "'\\''")}'`;
// `mode` is a name, or a list of it and its arguments.
export const commandOf = (mode) => [kPython, kAgent, ...[mode].flat()].map(quoted).join(' ');

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

// Of those that did not end, for a failed test would keep the runner waiting for ever.
const running = new Set();
after(() => {
  for (const cleanUp of [...running]) cleanUp();
});

function sweep(home) {
  for (const pid of left(home)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
}

const notesOf = (home) => (existsSync(join(home, 'notes')) ? readFileSync(join(home, 'notes'), 'utf8').split('\n').slice(0, -1) : []);

// Every process that was started with that home, and those whose numbers the agent noted, for they may hide.
function left(home) {
  const marked = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && environmentOf(entry).includes(`HOME=${home}`));
  const noted = notesOf(home).map((note) => /^pid (\d+)$/.exec(note)?.[1]).filter((pid) => pid && runs(pid));
  return [...new Set([...marked, ...noted])].map(Number);
}

function runs(pid) {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

// Begins to ask the agent in that mode. `out` and `err` are what was written so far; at a `terminal`, where what is
// typed goes in with `type`, all of it is in `out`. `command` is run instead of the agent itself.
export function begin(mode, { args = [], text = 'hello', input = '', terminal = false, command: other } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'watchbill-misbehaving-'));
  const line = [program('watchbill-supervisor'), 'ask', ...args, '--command', other ?? commandOf(mode), text];
  const [command, ...rest] = terminal ? ['script', '-qec', line.map(quoted).join(' '), '/dev/null'] : line;
  const child = spawn(command, rest, { cwd: home, stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' } });
  const name = [mode].flat()[0];
  const ran = { home, child, out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (piece) => (ran.out += piece));
  child.stderr.setEncoding('utf8').on('data', (piece) => (ran.err += piece));
  child.stdin.on('error', () => {});
  if (!terminal) child.stdin.end(input);
  ran.type = (typed) => child.stdin.write(typed);
  // What the agent waits for in `await_word`.
  ran.go = () => writeFileSync(join(home, 'go'), '');
  const sofar = () => `so far: ${ran.out.slice(-500)} | ${ran.err.slice(-500)}`;
  const closed = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  const cleanUp = () => {
    running.delete(cleanUp);
    child.kill('SIGKILL');
    sweep(home);
    rmSync(home, { recursive: true, force: true });
  };
  running.add(cleanUp);
  // Resolves once that was written. Where it is not, nothing of it stays either.
  ran.shows = (pattern) =>
    until(`${name} to show ${pattern}; ${sofar()}`, () => pattern.test(ran.out + ran.err), 30_000).catch((error) => {
      cleanUp();
      throw error;
    });
  // Resolves once it has ended, and nothing of it is left.
  ran.end = async (ms = 60_000) => {
    try {
      const { code, signal } = await within(ms, `${name} to end; ${sofar()}`, closed);
      await until(`nothing of ${name} to be left running`, () => left(home).length === 0, 15_000);
      const notes = notesOf(home).filter((note) => !note.startsWith('pid '));
      return { out: ran.out, err: ran.err, lines: ran.err.split('\n').slice(0, -1), code: code ?? signal, notes };
    } finally {
      cleanUp();
    }
  };
  return ran;
}

export const ask = (mode, more = {}) => begin(mode, more).end(more.ms);

// Waits until that was written, then Ctrl-C.
export async function interrupt(mode, pattern, more = {}) {
  const ran = begin(mode, more);
  await ran.shows(pattern);
  ran.child.kill('SIGINT');
  return ran.end(more.ms);
}

// Lines of standard error.
export const noMessage = (line) => `python3: a line on its standard output is no message: ${line}`;
export const nobodyWaits = (line) => `python3: it answered a request that nobody waits for: ${line}`;
export const notOffered = (method) => `python3: it asked for ${method}, which is not offered`;
// Why it does not run: what was run, and what it wrote last.
export function report(mode, says, { errors = [], noise = [], path = false } = {}) {
  const words = ['/usr/bin/python3', kAgent, ...[mode].flat()].map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : quoted(word)));
  return [
    `watchbill-supervisor: python3 ${says}.`,
    `Command: ${words.join(' ')}`,
    /^Folder: \/.*\/watchbill-misbehaving-\w+$/,
    ...(path ? [`PATH: ${process.env.PATH}`] : []),
    ...(errors.length > 0 ? ['The last lines of its standard error:', ...errors.map((line) => `  ${line}`)] : ['It wrote nothing on its standard error.']),
    ...(noise.length > 0 ? ['What it wrote on its standard output instead of messages:', ...noise.map((line) => `  ${line}`)] : []),
  ];
}
export const failed = (why) => [`watchbill-supervisor: python3 ${why}`];

// Line by line: `wanted` are texts, or patterns.
export function sameLines(lines, wanted) {
  const fits = (line, one) => (one instanceof RegExp ? one.test(line ?? '') : one === line);
  for (let at = 0; at < Math.max(lines.length, wanted.length); ++at) {
    if (at >= wanted.length || !fits(lines[at], wanted[at])) {
      assert.fail(`line ${at + 1} of standard error is ${JSON.stringify(lines[at])}, not ${wanted[at] instanceof RegExp ? wanted[at] : JSON.stringify(wanted[at])}`);
    }
  }
}

// A test for each row: [what is right, mode, what comes of it, what `begin` is given]. Of what comes of it `out` and
// `err` are all that is on standard output and error, a text and a list as in sameLines; `code` is 0 where it is not said.
export function rows(list) {
  for (const [what, mode, { out = '', err = [], code = 0, notes = [] }, more = {}] of list) {
    test(what, { todo: more.todo }, async () => same(await ask(mode, more), { out, err, code, notes }));
  }
}

export function same(ran, { out = '', err = [], code = 0, notes = [] }) {
  // Not with `equal`, which would take minutes over a megabyte that differs.
  assert.ok(ran.out === out, `standard output: ${ran.out.slice(0, 2000)}\nstandard error: ${ran.lines.slice(0, 20).join('\n')}`);
  sameLines(ran.lines, err);
  assert.equal(ran.code, code);
  assert.deepEqual(ran.notes, notes);
}
