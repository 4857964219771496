// watchbill-supervisor ask, and agents whose bytes are not what they should be: around, between and within the lines.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ask, failed, noMessage, nobodyWaits, report, rows, same } from '../support/misbehaving.mjs';

const kMost = 32 << 20;
const chunk = (text) => `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"}}}}`;
// A message that is let go: why, and how it begins.
const unreadable = /^python3: a (line on its standard output is no message|message cannot be read: .* at byte \d+): \{"jsonrpc":"2\.0","method":"session\/update"/;
const kHello = 'you said: hello';

describe('A3 what is no message', { concurrency: 4 }, () => {
  rows([
    ['a banner, an empty line and a log record come first', 'banner', {
      out: kHello,
      err: [noMessage('welcome aboard'), 'python3: a JSON object on its standard output is neither a request nor an answer: {"level":"info","msg":"starting"}'],
    }],
    ['blank lines are nothing', 'blank-lines', { out: kHello }],
    ['noise between all frames', 'noise-between', { out: kHello, err: Array(4).fill(noMessage('ping')) }],
    ['a line of zero bytes, and zero bytes within and behind a frame', 'nul-bytes', { out: 'done', err: [noMessage(''), unreadable, unreadable] }],
    ['a batch', 'batch', { out: 'done', err: [noMessage(`[${chunk('x')},${chunk('y')}]`)] }],
    ['a megabyte of blanks, and as much within a frame', 'wide-blanks', { out: 'wide done' }],
    ['updates that are no JSON', 'broken-updates', { out: 'done', err: [unreadable, unreadable, /^python3: .*\{"jsonrpc"="2\.0"/, ...Array(4).fill(unreadable)] }],
    ['frames without a version, and of another', 'no-version', { out: 'none old number done' }],
    ['answers that nobody waits for', 'answers-nobody', {
      out: 'done',
      err: ['99', '0', '-1', '2.5', '"3"', '1e+300', 'null', 'true', '[3]'].map((id) => nobodyWaits(`{"jsonrpc":"2.0","id":${id},"result":{"stopReason":"refusal"}}`)),
    }],
  ]);
});

describe('how the bytes come', { concurrency: 4 }, () => {
  rows([
    ['a byte order mark before the first frame', 'byte-order-mark', { out: kHello }],
    ['lines that end as on Windows', 'carriage-returns', { out: kHello }],
    ['carriage returns between the members are blanks, in a text they are none of JSON', 'carriage-return-inside', { out: 'one done', err: [unreadable] }],
    ['each byte by itself', 'byte-by-byte', { out: kHello }],
    ['a frame in two, cut within a character', 'halves', { out: 'größer done' }],
    ['a whole turn in one write', 'one-write', { out: 'a b c' }],
    ['no newline at the end', 'no-last-newline', { out: 'whole' }],
    ['bytes that are no UTF-8 are marked, and what is around them stays', 'invalid-utf8', { out: '<\ufffd><\ufffd><\ufffd\ufffd><\ufffd\ufffd\ufffd>done' }],
    ['escapes of half a character are marked', 'lone-surrogates', { out: '<\ufffd><\ufffd><\ufffd\ufffd><😀>done' }],
    ['a message that begins before the handshake and never ends', 'endless-start', {
      err: [/^watchbill-supervisor: python3 does not speak ACP: it wrote a line of 33\d{6} bytes that has no end\.$/, ...report('endless-start', '').slice(1)],
      code: 8,
    }],
  ]);
});

describe('how long a line is', { concurrency: 2 }, () => {
  const bare = chunk('').length;
  for (const megabytes of [3, 31]) {
    test(`an update of ${megabytes} MiB, then a small one`, async () => {
      const size = megabytes << 20;
      same(await ask(['long-line', size]), { out: `${'x'.repeat(size - bare)}|small|done` });
    });
  }
  rows([
    ['32 MiB are taken', ['long-line', kMost], { out: `${'x'.repeat(kMost - bare)}|small|done` }],
    ['a byte more is let go, and the next is taken', ['long-line', kMost + 1], {
      out: '|small|done',
      err: [/^python3: a line of 33554433 bytes is longer than the 33554432 that are taken: \{"jsonrpc":"2\.0","method":"session\/update".{1,1024}$/],
    }],
    ['33 MiB are let go, and the next is taken', ['long-line', 33 << 20], {
      out: '|small|done',
      err: [/^python3: a line of 34603008 bytes is longer than the 33554432 that are taken: \{"jsonrpc":"2\.0","method":"session\/update".{1,1024}$/],
    }],
    ...['first', 'last'].flatMap((where) => [
      [`an answer to the prompt that is too long, its id ${where}, fails it at once`, ['long-answer', where], {
        out: 'before',
        err: [/^watchbill-supervisor: python3 did not finish: its answer is 346\d{5} bytes long, and 33554432 are the most$/],
        code: 1,
      }],
      [`an answer to session/new that is too long, its id ${where}, fails that at once`, ['long-opening', where], {
        err: [/^watchbill-supervisor: python3 could not open a session: its answer is 346\d{5} bytes long, and 33554432 are the most$/],
        code: 8,
      }],
    ]),
  ]);
});

describe('how deep it is, and where it breaks off', { concurrency: 4 }, () => {
  const kDeep = 'its answer cannot be read: not JSON: arrays and objects are nested too deep at byte 127';
  rows([
    ['an update of 64 levels is taken', ['nested-update', 64], { out: 'deep done' }],
    ['one of 65 is let go', ['nested-update', 65], { out: 'done', err: [unreadable] }],
    ['one of 10,000 as well', ['nested-update', 10_000], { out: 'done', err: [unreadable] }],
    ['an answer of 64 levels is taken', ['nested-answer', 64], {}],
    ['one of 65 fails the prompt at once', ['nested-answer', 65], { err: failed(`did not finish: ${kDeep}`), code: 1 }],
    ['one of 10,000 as well', ['nested-answer', 10_000], { err: failed(`did not finish: ${kDeep}`), code: 1 }],
    ['a request that is nested too deep is refused', 'nested-request', {
      out: '-32600 done',
      err: [/^python3: a message cannot be read: not JSON: arrays and objects are nested too deep at byte 116: \{"jsonrpc":"2\.0","id":"deep"/],
    }],
    ['an answer that breaks off fails the prompt at once', 'broken-answer', {
      err: failed('did not finish: its answer cannot be read: not JSON: a closing quote was expected at byte 52'),
      code: 1,
    }],
    ['a request that breaks off is refused', 'broken-request', {
      out: 'q -32600 done',
      err: ['python3: a message cannot be read: not JSON: a closing quote was expected at byte 79: {"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sess'],
    }],
    ['numbers beyond a double, and such as are none, are let go with their message; the others are taken', 'numbers', {
      out: '1e-999 123456 -0 done',
      err: Array(10).fill(unreadable),
    }],
    ['of members that come twice the last counts', 'double-members', {
      out: 'second 2 done',
      err: ['python3: it told of session s2, which is not open (agent_message_chunk)', 'python3: it asked for x/y, which is not offered'],
    }],
    ['names of members that mean something elsewhere mean nothing here', 'prototype-members', {
      out: 'plain __proto__ done',
      err: ['python3: it asked for __proto__, which is not offered'],
    }],
  ]);
  test('what is beyond a message is not shown at its length', async () => {
    const { lines } = await ask(['nested-update', 10_000]);
    assert.ok(lines[0].length < 1200, `${lines[0].length} characters`);
  });
});
