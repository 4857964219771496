// watchbill-supervisor ask, with agents that nobody here wrote and with one that goes wrong on request.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { program } from '../support/monitor.mjs';
import { until, within } from '../support/patience.mjs';

const sdk = join(dirname(createRequire(import.meta.url).resolve('@agentclientprotocol/sdk')), 'examples', 'agent.js');
const sdkLine = `'${process.execPath}' --experimental-global-webcrypto '${sdk}'`;
const python = '/usr/bin/python3';
const misbehaving = new URL('../agents/misbehaving_agent.py', import.meta.url).pathname;
const mode = (name) => `${python} '${misbehaving}' ${name}`;
const kAnswer =
  "I'll help you with that. Let me start by reading some files to understand the current situation. Now I understand the project structure. I need to make some changes to improve it. Perfect! I've successfully updated the configuration. The changes have been applied.";

let home;
before(() => {
  home = mkdtempSync(join(tmpdir(), 'watchbill-ask-'));
});
after(() => rmSync(home, { recursive: true, force: true }));

// Every process that was started with this test's own home.
function left() {
  const mark = `HOME=${home}`;
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
    } catch {
      return false;
    }
  });
}
const nothingLeft = () => until('nothing to be left running', () => left().length === 0);

function start(args, { input = '', env = {}, cwd = home } = {}) {
  const child = spawn(program('watchbill-supervisor'), ['ask', ...args], {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', ...env },
  });
  const ran = { out: '', err: '', child };
  child.stdout.setEncoding('utf8').on('data', (text) => (ran.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (ran.err += text));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  ran.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  return ran;
}

async function ask(args, more) {
  const ran = start(args, more);
  const { code } = await within(60_000, 'ask to end', ran.ended);
  await nothingLeft();
  return { ...ran, code };
}

test('A8 the SDK’s example agent answers exactly what it is known to answer', async () => {
  const { out, err, code } = await ask(['--approve', '--command', sdkLine, 'hello']);
  assert.equal(out, kAnswer);
  assert.equal(code, 0, err);
  assert.match(err, /allowed: Modifying critical configuration file/);
});

test('S22 without a terminal and without --approve it is refused, and the exit code says so', async () => {
  const { out, err, code } = await ask(['--command', sdkLine, 'hello']);
  assert.match(out, /I understand you prefer not to make that change\. I'll skip the configuration update\.$/);
  assert.match(err, /refused: Modifying critical configuration file \(there is no terminal to ask at; --approve/);
  assert.equal(code, 6);
});

// At a terminal: `script` is one. What is typed goes in, what the terminal shows comes out.
async function atTerminal(line, typed) {
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: home, stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' } });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (shown += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  await until('the question', () => /Enter to refuse: $/.test(shown));
  child.stdin.write(typed);
  const code = await within(30_000, 'the terminal to end', ended);
  await nothingLeft();
  return { shown, code };
}

test('S22 at a terminal it is asked, and the option that was typed is the one that is chosen', async () => {
  const line = `'${program('watchbill-supervisor')}' ask --command "${sdkLine}" hello`;
  const allowed = await atTerminal(line, '1\n');
  assert.match(allowed.shown, /agent\.js asks|node asks/);
  assert.match(allowed.shown, /1 {2}Allow this change \(allow_once\)/);
  assert.match(allowed.shown, /Perfect! I've successfully updated/);
  assert.equal(allowed.code, 0);
  const refused = await atTerminal(line, '9\n\n');
  assert.match(refused.shown, /I'll skip the configuration update\./);
  assert.equal(refused.code, 0);
});

test('S6 Ctrl-C cancels the turn and leaves nothing running', async () => {
  const ran = start(['--approve', '--command', sdkLine, 'hello']);
  await until('the answer to begin', () => ran.out.includes('help you'));
  ran.child.kill('SIGINT');
  const { code } = await within(15_000, 'ask to end', ran.ended);
  assert.equal(code, 130);
  assert.ok(!ran.out.includes('Perfect'), ran.out);
  await nothingLeft();
});

test('S6 Ctrl-C while it waits for nothing yet ends it as well', async () => {
  const ran = start(['--command', mode('silent'), 'hello']);
  await until('the agent to run', () => ran.err.includes('waiting for the tide'));
  ran.child.kill('SIGINT');
  const { code } = await within(20_000, 'ask to end', ran.ended);
  assert.equal(code, 130);
  await nothingLeft();
});

test('events as JSON, one a line, the last of which says how it ended', async () => {
  const { out, code } = await ask(['--json', '--approve', '--command', sdkLine, 'hello']);
  const events = out.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.equal(code, 0);
  assert.deepEqual(events.at(-1), { event: 'end', stopReason: 'end_turn', error: '', exit: 0 });
  const text = events.filter(({ update }) => update?.sessionUpdate === 'agent_message_chunk').map(({ update }) => update.content.text);
  assert.equal(text.join(''), kAnswer);
  assert.equal(events.find(({ event }) => event === 'permission').answered, 'allowed');
});

test('the text can come from standard input, and several words are one text', async () => {
  assert.equal((await ask(['--command', mode('well'), '-'], { input: 'from a pipe' })).out, 'you said: from a pipe');
  assert.equal((await ask(['--command', mode('well'), 'two', 'words'])).out, 'you said: two words');
});

test('an agent of the configuration is asked by its name', async () => {
  const config = join(home, 'agents.yaml');
  writeFileSync(config, `agents:\n  - name: parrot\n    command: ${python}\n    args: ["${misbehaving}", well]\n    env: {X: y}\n`);
  assert.equal((await ask(['--config', config, 'parrot', 'pieces of eight'])).out, 'you said: pieces of eight');
  const unknown = await ask(['--config', config, 'parot', 'x']);
  assert.match(unknown.err, /there is no agent named "parot" in .*; did you mean parrot\?/);
  assert.equal(unknown.code, 4);
});

// Each failure: what is run, what standard error must say, and how soon that is known.
const kFailures = [
  ['a program that does not exist', 'no-such-agent --acp', [/could not be started: "no-such-agent" was not found in PATH \(.*\/usr\/bin/, /Command: no-such-agent --acp/, /Folder: /]],
  ['a program that ends at once', mode('ends-at-once'), [/ended before it answered: exit code 3/, /the licence has run out\n.*ask the harbour master/s, /Command: /, /Found at: |Command: \/usr\/bin\/python3/]],
  ['one that is killed at once', mode('killed-at-once'), [/signal 9 \(Killed\)/, /wrote nothing on its standard error/]],
  ['one that is no agent', mode('not-acp'), [/ended before it answered: exit code 0/, /no protocol here/, /instead of messages:\n {2}<html>welcome<\/html>/]],
  ['one that writes without end', mode('floods'), [/does not speak ACP: it wrote \d+ lines that are no messages/]],
  ['one that answers nonsense', mode('nonsense'), [/does not speak ACP: .*protocolVersion/]],
  ['one that refuses', mode('refuses'), [/refused `initialize`: Internal error: no engine \(code -32603\)/]],
  ['one that speaks version 2 alone', mode('version-2'), [/speaks ACP version 2 alone; version 1 is what is spoken here/]],
  ['cat', 'cat', [/cat is no agent: it sent `initialize` itself/, /Command: cat/, /Found at: .*\/cat/]],
  ['one that wants a sign-in', mode('signed-out'), [/could not open a session: it wants to be signed in first: Authentication required/]],
];
for (const [what, command, patterns] of kFailures) {
  test(`S3 ${what} says so at once, with what was run and what it said last`, async () => {
    const { err, out, code } = await ask(['--command', command, 'hello']);
    for (const pattern of patterns) assert.match(err, pattern);
    assert.equal(out, '');
    assert.equal(code, 8, err);
  });
}

test('S3 a file that is not executable, a script without its interpreter, and a folder say what they are', async () => {
  const plain = join(home, 'agent.txt');
  writeFileSync(plain, 'x');
  const script = join(home, 'agent.sh');
  writeFileSync(script, '#!/nowhere/sh\n');
  chmodSync(script, 0o755);
  assert.match((await ask(['--command', plain, 'x'])).err, /agent\.txt is not executable/);
  assert.match((await ask(['--command', script, 'x'])).err, /interpreter \/nowhere\/sh/);
  assert.match((await ask(['--command', home, 'x'])).err, /is a folder/);
});

test('S3 an agent that says nothing is given up after 30 seconds, and ended', async () => {
  const begun = Date.now();
  const { err, code } = await ask(['--command', mode('silent'), 'hello']);
  assert.match(err, /did not answer `initialize` within 30 seconds/);
  assert.match(err, /waiting for the tide/);
  assert.equal(code, 8);
  assert.ok(Date.now() - begun >= 29_000);
});

test('A3 lines that are no messages are let go, whatever comes before the first frame', async () => {
  const { out, err, code } = await ask(['--command', mode('banner'), 'hello']);
  assert.equal(out, 'you said: hello');
  assert.equal(code, 0);
  assert.match(err, /is no message: welcome aboard/);
});

test('S7 an agent that ends in the middle of its answer: what it said, and how it ended', async () => {
  const { out, err, code } = await ask(['--command', mode('ends-in-the-middle'), 'hello']);
  assert.equal(out, 'half of an ');
  assert.match(err, /did not finish: it ended: exit code 9/);
  assert.match(err, /out of coal/);
  assert.equal(code, 8);
});

test('an agent that asks without end and never reads is ended, and does not take the memory', async () => {
  const { err, code } = await ask(['--quiet', '--command', mode('asks-and-never-reads'), 'hello']);
  assert.match(err, /did not finish: it did not read what it was sent, and was killed when 64 MiB waited/);
  assert.equal(code, 8);
});

test('a prompt that fails and an answer that is cut short have exit codes of their own', async () => {
  const failed = await ask(['--command', mode('prompt-fails'), 'hello']);
  assert.match(failed.err, /did not finish: Internal error: the model is down/);
  assert.equal(failed.code, 1);
  const short = await ask(['--command', mode('runs-out'), 'hello']);
  assert.match(short.err, /stopped before its answer was whole: max_tokens/);
  assert.equal(short.code, 7);
});

test('what an agent writes for a terminal stays as it is in a file', async () => {
  const { out } = await ask(['--command', mode('escapes'), 'hello']);
  assert.equal(out, 'red \x1b[31malert\x1b[0m \x07 bell');
});

test('S6 an agent that ignores everything is killed, with what it started', async () => {
  const ran = start(['--command', mode('leaves-a-child'), 'hello']);
  const { code } = await within(30_000, 'ask to end', ran.ended);
  assert.equal(ran.out, 'you said: hello');
  assert.equal(code, 0);
  assert.match(ran.err, /child \d+/);
  await nothingLeft();
});

test('A4 ask itself killed with -9: the next one ends what it left', async () => {
  const ran = start(['--command', mode('ignores-everything'), 'hello']);
  await until('the answer to begin', () => ran.out.includes('never mind'));
  ran.child.kill('SIGKILL');
  await within(10_000, 'ask to end', ran.ended);
  assert.notEqual(left().length, 0);
  const { code } = await ask(['--command', mode('well'), 'hello']);
  assert.equal(code, 0);
});

test('a command line that makes no sense is refused with a sentence', async () => {
  for (const [args, pattern] of [
    [['--command', "a 'b", 'x'], /quote that is not closed/],
    [['--command', mode('well'), '  '], /the text is empty/],
    [['--command', mode('well')], /TEXT/],
    [['--cwd', '/no/such/folder', '--command', mode('well'), 'x'], /is no folder/],
  ]) {
    const { err, code } = await ask(args);
    assert.match(err, pattern);
    assert.ok(code === 2 || code === 4, `${args}: ${code}`);
  }
});
