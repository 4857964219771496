// watchbill-supervisor ask, and agents that end when they should not, or do not when they should.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ask, begin, commandOf, failed, interrupt, noMessage, notOffered, report, rows, same } from '../support/misbehaving.mjs';

const kHello = 'you said: hello';
const kEnded = 'python3 does not end its turn; it is ended itself.';

describe('S3 it ends before it has answered', { concurrency: 4 }, () => {
  const ends = (mode, how, errors = [], more = {}) => ({
    err: [...errors.map((line) => `python3: ${line}`), ...report(mode, `ended before it answered: ${how}`, { errors, ...more })],
    code: 8,
  });
  rows([
    ['with a reason', 'ends-at-once', ends('ends-at-once', 'exit code 3', ['the licence has run out', 'ask the harbour master'])],
    ['as a wrapper whose program is not there', 'not-found', ends('not-found', 'exit code 127', ['env: node: not found'], { path: true })],
    ['as if all was well', 'exits-well', ends('exits-well', 'exit code 0')],
    ['killed', 'killed-at-once', ends('killed-at-once', 'signal 9 (Killed)')],
    ['aborted', 'aborts', ends('aborts', 'signal 6 (Aborted)', ['assertion failed'])],
    ['right behind its answer', 'handshake-and-exit', { err: failed('could not open a session: it ended: exit code 5'), code: 8 }],
    ['right behind its answer, which has no newline', ['handshake-and-exit', 'bare'], { err: report(['handshake-and-exit', 'bare'], 'ended by itself: exit code 5'), code: 8 }],
    ['right behind its session', 'opening-and-exit', { err: failed('did not finish: it ended: exit code 5'), code: 8 }],
    ['right behind its session, which has no newline', ['opening-and-exit', 'bare'], { err: report(['opening-and-exit', 'bare'], 'ended by itself: exit code 5'), code: 8 }],
  ]);
  test('as another program, which wrote something else', async () => {
    const { out, err, lines, code } = await ask('not-acp');
    const wanted = report('not-acp', 'ended before it answered: exit code 0', { errors: ['no protocol here'], noise: ['<html>welcome</html>'] });
    // The two pipes are read in whichever order.
    same({ out, lines: lines.slice(2), code, notes: [] }, { err: wanted, code: 8 });
    assert.deepEqual(lines.slice(0, 2).sort(), [noMessage('<html>welcome</html>'), 'python3: no protocol here'].sort(), err);
  });
  test('in the middle of its answer', async () => {
    const half = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion"';
    const wrong = 'not JSON: a colon was expected at byte 51';
    same(await ask('half-a-handshake'), {
      err: [
        `python3: a message cannot be read: ${wrong}: ${half}`,
        ...report('half-a-handshake', `ended before it answered: its answer cannot be read: ${wrong} (exit code 4)`, { noise: [half] }),
      ],
      code: 8,
    });
  });
});

describe('S7 it ends in a turn', { concurrency: 4 }, () => {
  rows([
    ['between two frames', 'ends-in-the-middle', { out: 'half of an ', err: ['python3: out of coal', ...failed('did not finish: it ended: exit code 9')], code: 8 }],
    ['within an update', 'ends-in-a-frame', {
      out: 'half of a ',
      err: [/^python3: a (line on its standard output is no message|message cannot be read.*): \{"jsonrpc":"2\.0","method":"session\/update".*frame$/, ...failed('did not finish: it ended: exit code 9')],
      code: 8,
    }],
    ['killed', 'killed-in-turn', { out: 'shot ', err: failed('did not finish: it ended: signal 11 (Segmentation fault)'), code: 8 }],
    ['while what it started keeps its pipes open', 'child-keeps-pipes', { out: 'orphan ', err: failed('did not finish: it ended: exit code 0'), code: 8 }],
  ]);
  test('within its answer', async () => {
    const { out, err, code } = await ask(['ends-in-a-frame', 'answer']);
    assert.equal(out, 'half of a ');
    assert.match(err, /^watchbill-supervisor: python3 did not finish: .*exit code 9/m);
    assert.equal(code, 8);
  });
});

describe('its pipes', { concurrency: 4 }, () => {
  const kMute = 'closed its standard output, and was killed';
  rows([
    ['without an output it is ended', 'closes-output', { out: 'not a ', err: failed(`did not finish: it ${kMute}`), code: 8 }],
    ['and before the handshake as well', 'closes-output-at-once', {
      err: ['python3: mute', ...report('closes-output-at-once', `ended before it answered: ${kMute}`, { errors: ['mute'] })],
      code: 8,
    }],
    ['without any', 'closes-all', { out: 'gone ', err: failed(`did not finish: it ${kMute}`), code: 8 }],
    ['without an input it can still end its turn', 'closes-input', { out: 'deaf', err: [notOffered('x/y'), notOffered('x/y')] }],
    ['without an error output it is as good', 'closes-errors', { out: 'done' }],
    ['what it has not read when it ends does not matter', ['never-reads-the-prompt', 'ends'], { out: 'guessed', err: ['python3: deaf from now on'] },
      { text: '-', input: 'x'.repeat(1 << 20) }],
  ]);

  test('a prompt of a megabyte that is never read does not stop the reading', async () => {
    const ran = begin('never-reads-the-prompt', { text: '-', input: 'x'.repeat(1 << 20) });
    await ran.shows(/deaf from now on/);
    ran.go();
    same(await ran.end(), { out: 'guessed', err: ['python3: deaf from now on'] });
  });

  test('one that reads a byte at a time gets all of a long prompt', async () => {
    const input = 'All hands on deck. '.repeat(10_000);
    same(await ask('reads-slowly', { text: '-', input }), { out: `you said: ${input}` });
  });
});

describe('A4 it does not end when it is asked to', { concurrency: 8 }, () => {
  test('a wrapper that waits for it is ended with it', async () => {
    const inner = commandOf('ignores-sigterm').replaceAll("'", '');
    same(await ask('a wrapper', { command: `bash -c "${inner}; :"` }), { out: kHello });
  });
  rows([
    ['the end of its input is nothing to it', 'ignores-the-end', { out: kHello }],
    ['nor is SIGTERM', 'ignores-sigterm', { out: kHello }],
    ['what it started, in a session of its own, is killed as well', 'leaves-a-child', { out: kHello, err: [/^python3: child \d+$/] }],
    ['and what has another parent', 'strays', { out: 'done' }],
    ['and what has no environment either', ['strays', 'bare'], { out: 'done' }],
  ]);
});

describe('S6 Ctrl-C', { concurrency: 8 }, () => {
  const cancelled = (mode, pattern, wanted) =>
    test(`${[mode].flat().join(' ')}: exit code 130, and nothing is left`, async () => same(await interrupt(mode, pattern), { code: 130, ...wanted }));
  cancelled('silent-opening', /opening/, { err: ['python3: opening'] });
  cancelled('never-ends', /thinking/, { out: 'thinking ', err: [kEnded] });
  cancelled('cancel-fails', /thinking/, { out: 'thinking ' });
  cancelled('cancel-ends-well', /thinking/, { out: 'thinking and done' });
  cancelled('cancel-asks', /thinking/, {
    out: 'thinking ',
    err: ['python3: it asked for permission in a turn that was cancelled'],
    notes: ['cancelled'],
  });
  cancelled('cancel-ends-it', /thinking/, { out: 'thinking ' });
  cancelled('stops-itself', /one moment/, { out: 'one moment ', err: [kEnded] });
  cancelled('ignores-everything', /never mind/, { out: 'never mind', err: [kEnded] });

  test('a second one waits for nothing', async () => {
    const ran = begin('ignores-everything');
    await ran.shows(/never mind/);
    ran.child.kill('SIGINT');
    ran.child.kill('SIGTERM');
    const { out, err } = await ran.end();
    assert.equal(out, 'never mind');
    assert.equal(err, '');
  });
});

describe('it takes its time', { concurrency: 2 }, () => {
  rows([
    ['for five seconds, and says so', 'slow-start', { out: kHello, err: Array.from({ length: 50 }, (_, step) => `python3: fetching ${step}`) }],
  ]);
});
