// watchbill-supervisor ask, and agents that send more than anybody needs. One after the other: they need the machine.
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ask, begin, failed, noMessage, notOffered, report, rows, same } from '../support/misbehaving.mjs';

const kHello = 'you said: hello';
const kRefused = 'refused: Touch the wheel (there is no terminal to ask at; --approve allows what it asks for)';

describe('many', () => {
  rows([
    ['200,000 small updates', ['small-updates', 200_000], { out: `${'x'.repeat(200_000)}done` }],
    ['10,000 requests before it reads the first answer', 'asks-before-reading', { out: 'True {-32601} done', err: Array(10_000).fill(notOffered('none/such')) }],
    ['5,000 permissions at once are refused', 'asks-for-much', { out: "5000 {'no'} done", err: Array(5000).fill(kRefused), code: 6 }],
    ['or allowed', 'asks-for-much', { out: "5000 {'yes'} done", err: Array(5000).fill('· allowed: Touch the wheel') }, { args: ['--approve'] }],
    ['updates of a thousand sessions', 'many-sessions', {
      out: 'done',
      err: Array.from({ length: 1000 }, (_, at) => `python3: it told of session n${at}, which is not open (agent_message_chunk)`),
    }],
    ['2,000 tool calls that do not end', 'many-tool-calls', { out: 'done', err: Array.from({ length: 2000 }, (_, at) => `· Call ${at} (pending)`) }],
  ]);

  test('20,000 updates as events, each of them a line', async () => {
    const { out, code } = await ask(['small-updates', 20_000], { args: ['--json'] });
    const events = out.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.equal(events.length, 20_002);
    assert.deepEqual(events.at(-1), { event: 'end', stopReason: 'end_turn', error: '', exit: 0 });
    assert.equal(code, 0);
  });
});

describe('S3 noise', () => {
  rows([
    ['9,000 lines before the handshake are let go', ['noisy-start', 9000], { out: kHello, err: Array(9000).fill(noMessage('noise')) }],
    ['20,000 in a turn as well', ['noisy-turn', 20_000], { out: 'done', err: Array(20_000).fill(noMessage('noise')) }],
  ]);
  test('20,000 before the handshake are no agent', async () => {
    const { out, lines, code } = await ask(['noisy-start', 20_000]);
    assert.equal(out, '');
    assert.equal(code, 8);
    const wanted = report(['noisy-start', 20_000], 'does not speak ACP: it wrote 10001 lines that are no messages (50005 bytes)', { noise: Array(5).fill('noise') });
    same({ out, lines: lines.slice(-wanted.length), code, notes: [] }, { err: wanted, code: 8 });
  });
  test('without end before the handshake are no agent', async () => {
    const { out, lines, code } = await ask('floods', { args: ['--quiet'] });
    assert.match(lines[0], /^watchbill-supervisor: python3 does not speak ACP: it wrote \d{4} lines that are no messages \(4\d{6} bytes\)\.$/);
    assert.deepEqual([out, code], ['', 8]);
  });
});

describe('standard error', () => {
  rows([
    ['a line that does not end is no line yet', 'errors-without-newline', { out: 'done', err: ['python3: one line'] }],
    ['a line of a megabyte is cut, between two characters', 'long-error', { out: 'done', err: [/^python3: ü{1000,8192} \[…\]$/, 'python3: short'] }],
    ['bytes that are no text, and sequences for a terminal', 'binary-errors', { out: 'done', err: ['python3: \ufffd\ufffdbinary', 'python3: '] }],
  ]);
  test('without end does not keep an answer from coming', async () => {
    const { out, lines, code } = await ask('endless-errors');
    assert.equal(out, kHello);
    assert.equal(code, 0);
    assert.deepEqual([...new Set(lines)].filter((line) => line !== 'python3: grumble'), []);
    const quiet = await ask('endless-errors', { args: ['--quiet'] });
    same(quiet, { out: kHello });
  });
});

describe('without end', () => {
  test('one that asks and never reads is ended, and it is said why', async () => {
    same(await ask('asks-and-never-reads', { args: ['--quiet'] }), {
      err: failed('did not finish: it did not read what it was sent, and was killed when 64 MiB waited'),
      code: 8,
    });
  });

  test('S6 a line that never ends takes no memory, and Ctrl-C ends it', async () => {
    const ran = begin('endless-turn');
    await ran.shows(/so far/);
    ran.child.kill('SIGINT');
    await ran.shows(/does not end its turn/);
    const most = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${ran.child.pid}/status`, 'utf8'))[1]);
    const { out, lines, code } = await ran.end();
    assert.deepEqual([out, lines[0], code], ['so far', 'python3 does not end its turn; it is ended itself.', 130]);
    assert.ok(most < 256 << 10, `${most} kB`);
  });
});
