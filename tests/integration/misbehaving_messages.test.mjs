// watchbill-supervisor ask, and agents that speak out of turn, or say what makes no sense: each line is a good one.
import { readFileSync, readdirSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { ask, begin, failed, kAgent, nobodyWaits, notOffered, report, rows } from '../support/misbehaving.mjs';

const kHello = 'you said: hello';
const kApprove = { args: ['--approve'] };
const kAllowed = '· allowed: Touch the wheel';
const kNoTerminal = 'refused: Touch the wheel (there is no terminal to ask at; --approve allows what it asks for)';
const kNothingAllows = 'refused: Touch the wheel (it offers nothing that allows it)';
const json = JSON.stringify;

describe('answers', { concurrency: 4 }, () => {
  rows([
    ['the second to one request is let go', 'answers-twice', { out: kHello, err: [nobodyWaits('{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s2"}}')] }],
    ['those that come before anybody has asked are let go', 'answers-early', {
      out: kHello,
      err: [nobodyWaits('{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}'), nobodyWaits('{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}')],
    }],
    ['errors without an id are let go', 'errors-without-id', {
      out: 'done',
      err: ['', '"id":null,'].map((id) => nobodyWaits(`{"jsonrpc":"2.0",${id}"error":{"code":-32700,"message":"Parse error"}}`)),
    }],
    ['an error beside a result is an error', 'result-and-error', { err: failed('did not finish: both (code 7)'), code: 1 }],
    ['an error of null is none', 'error-null', { out: 'fine' }],
    ['neither a result nor an error', 'answers-nothing', { err: failed('did not finish: its answer holds neither a result nor an error'), code: 1 }],
    ['the members come in any order', 'id-last', { out: kHello }],
    ...[
      ['null', 'the answer to session/prompt needs `stopReason`: a text'],
      ['[]', 'the answer to session/prompt needs `stopReason`: a text'],
      ['"end_turn"', 'the answer to session/prompt needs `stopReason`: a text'],
      ['{}', 'the answer to session/prompt needs `stopReason`: a text'],
      ['{"stopReason":7}', 'the answer to session/prompt needs `stopReason`: a text'],
      ['{"stopReason":""}', 'the answer to session/prompt holds an empty stopReason'],
    ].map(([result, why]) => [`a prompt that ends with ${result}`, ['answers-with', result], { err: failed(`did not finish: ${why}`), code: 1 }]),
    ...['refusal', 'bored', 'cancelled'].map((reason) => [
      `a turn that nobody cancelled ends with "${reason}"`, ['answers-with', json({ stopReason: reason })],
      { err: [`python3 stopped before its answer was whole: ${reason}`], code: 7 },
    ]),
    ...[
      ['null', 'its answer holds neither a result nor an error'],
      ['{}', 'it gave no reason (code -32603)'],
      ['"gone"', 'gone (code -32603)'],
      ['{"code":"x","message":5}', 'it gave no reason (code -32603)'],
      ['{"code":1e30,"message":"m","data":"why"}', 'm: why (code -32603)'],
      ['{"code":-32000,"message":"Authentication required"}', 'it wants to be signed in first: Authentication required (code -32000)'],
      ['{"code":-32800,"message":"not now"}', 'not now (code -32800)'],
      ['{"code":1,"message":"red \\u001b[31malert"}', 'red alert (code 1)'],
    ].map(([error, why]) => [`a prompt that fails with ${error}`, ['fails-with', error], { err: failed(`did not finish: ${why}`), code: 1 }]),
  ]);
});

describe('the handshake and the session', { concurrency: 4 }, () => {
  const version = (value) => ['initialize-with', `{"protocolVersion":${value}}`];
  const fails = (mode, why) => ({ err: report(mode, why), code: 8 });
  const kWhole = 'does not speak ACP: the answer to initialize needs `protocolVersion`: a whole number';
  rows([
    ...['0', '2', '65535'].map((value) => [`version ${value}`, version(value), fails(version(value), `speaks ACP version ${value} alone; version 1 is what is spoken here`)]),
    ...['"1"', '1.5', 'null', '-1', '65536', '65537', 'true'].map((value) => [`version ${value}`, version(value), fails(version(value), kWhole)]),
    ['version 1.0 is 1', version('1.0'), { out: kHello }],
    ['no version', ['initialize-with', '{}'], fails(['initialize-with', '{}'], kWhole)],
    ['nothing', ['initialize-with', 'null'], fails(['initialize-with', 'null'], kWhole)],
    ...['[1,{},{"id":5},{"id":"a","type":"env_var","vars":[]},null]', '"none"', 'null', '{}'].map((methods) => [
      `ways to sign in that make no sense: ${methods}`, ['initialize-with', `{"protocolVersion":1,"authMethods":${methods}}`], { out: kHello },
    ]),
    ...['[]', '"all"', '{"loadSession":"yes","promptCapabilities":7,"sessionCapabilities":[1],"mcpCapabilities":null,"auth":"x"}'].map((offers) => [
      `what it offers makes no sense: ${offers}`, ['initialize-with', `{"protocolVersion":1,"agentCapabilities":${offers},"agentInfo":5}`], { out: kHello },
    ]),
    ['it asks and tells before the handshake', 'asks-too-soon', {
      out: kHello,
      err: ['python3: it asked for permission in session s1, which is not open', 'python3: it told of session s1, which is not open (agent_message_chunk)', notOffered('fs/read_text_file')],
      notes: ['-32002 -32601'],
    }],
    ['a refusal is told without its sequences for a terminal', ['initialize-fails-with', '{"code":1,"message":"red \\u001b[31malert"}'],
      fails(['initialize-fails-with', '{"code":1,"message":"red \\u001b[31malert"}'], 'refused `initialize`: red alert (code 1)')],
    ...[
      ['{}', 'the answer to session/new needs `sessionId`: a text'],
      ['null', 'the answer to session/new needs `sessionId`: a text'],
      ['{"sessionId":""}', 'the answer to session/new holds an empty sessionId'],
      ['{"sessionId":7}', 'the answer to session/new needs `sessionId`: a text'],
    ].map(([result, why]) => [`a session that is ${result}`, ['open-with', result], { err: failed(`could not open a session: ${why}`), code: 8 }]),
    ['modes, options and models that make no sense', ['open-with', '{"sessionId":"s1","modes":5,"configOptions":{},"models":"x"}'], { out: kHello }],
    ['and such lists of them', ['open-with', '{"sessionId":"s1","modes":{"currentModeId":1},"configOptions":[{"id":1}],"_meta":5}'], { out: kHello }],
    ['a sign-in is wanted, and ways to it are told', ['opening-fails-with', '{"code":-32000,"message":"Authentication required","data":{"authMethods":[{"id":"k","name":"Key"}]}}'],
      { err: failed('could not open a session: it wants to be signed in first: Authentication required (code -32000)'), code: 8 }],
    ['the reason beside an error is told, without its sequences for a terminal', ['opening-fails-with', '{"code":-32603,"message":"Internal error","data":{"details":"no\\u001b[2J disk"}}'],
      { err: failed('could not open a session: Internal error: no disk (code -32603)'), code: 8 }],
  ]);
});

describe('updates', { concurrency: 4 }, () => {
  const needs = (path, what) => `python3: session/update needs \`${path}\`: ${what}`;
  const kNotOpen = 'python3: it told of session s1, which is not open (agent_message_chunk)';
  rows([
    ['what is told of a session before its answer is told', ['updates-early', 3], { out: `eee${kHello}` }],
    ['but for what is more than 1,000', ['updates-early', 1500], { out: `${'e'.repeat(1000)}${kHello}`, err: Array(500).fill(kNotOpen) }],
    ['behind the end nothing is told, and what is asked is refused', 'updates-late', { out: 'in time', notes: ['no'] }],
    ['nothing comes behind the last event', 'updates-late', {
      out: '{"event":"update","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"in time"}}}\n{"event":"end","stopReason":"end_turn","error":"","exit":0}\n',
      notes: ['no'],
    }, { args: ['--json'] }],
    ['those of sessions that are not open are let go', 'other-session', {
      out: 'done',
      err: ['python3: it told of session s2, which is not open (agent_message_chunk)', 'python3: it told of session , which is not open (agent_message_chunk)', needs('sessionId', 'a text')],
    }],
    ['unknown kinds are let go', 'unknown-kinds', { out: 'done' }],
    ['those without a kind are let go', 'no-kind', {
      out: 'done',
      err: [...Array(5).fill(needs('update.sessionUpdate', 'the kind of the update')), ...Array(2).fill(needs('sessionId', 'a text')), ...Array(3).fill(needs('sessionId', 'a text'))],
    }],
    ['those that lack what they need are let go, and it is said what that is', 'incomplete', {
      out: 'done',
      err: [
        ...Array(3).fill(needs('update.content.type', 'a word')), ...Array(2).fill(needs('update.content.text', 'a text')), ...Array(3).fill(needs('update.content.type', 'a word')),
        needs('update.toolCallId', 'a text'), needs('update.title', 'a text'), needs('update.title', 'a text'), needs('update.toolCallId', 'a text'), needs('update.toolCallId', 'a text'),
        needs('update.currentModeId', 'a text'), needs('update.used', 'a whole number'), needs('update.severity', 'a text'), needs('update.compactionId', 'a text'),
        needs('update.content.type', 'a word'),
      ],
    }],
    ['what may be left out may be wrong', 'wrong-types', {
      out: 'kept done',
      err: ['· Odd (pending)', '· Odd (completed)', '· plan: 1 of 2 steps done', '· plan: 0 of 0 steps done', '· plan: 0 of 0 steps done'],
    }],
    ['of blocks other than text, the words', 'unknown-content', { out: 'inside done', err: [needs('update.content.data', 'a text')] }],
    ['tool calls in any order, by their title or else their id', 'tool-calls', {
      out: 'done',
      err: ['· Updated first (completed)', '· Made last (pending)', '· Made again (failed)', '· Made again (failed)', '· bare (completed)', '· No id (completed)', '· Two lines (burnt)'],
    }],
    ['names neither act on a terminal nor pass for a line of ours', 'escapes-in-names', {
      out: 'done',
      err: [
        notOffered('x watchbill-supervisor: forged'),
        'python3: it told of session x watchbill-supervisor: forged, which is not open (agent_message_chunk)',
        '· x watchbill-supervisor: forged (x watchbill-supervisor: forged)',
        'refused: x watchbill-supervisor: forged (there is no terminal to ask at; --approve allows what it asks for)',
      ],
      code: 6,
    }],
  ]);
  test('unknown kinds are events all the same', async () => {
    const { out, code } = await ask('unknown-kinds', { args: ['--json'] });
    const kinds = out.trimEnd().split('\n').map((line) => JSON.parse(line).update?.sessionUpdate);
    assert.deepEqual(kinds, ['weather_report', '_private', '', 'plan_update', 'subagent_update', 'Agent_Message_Chunk', 'agent_message_chunk', undefined]);
    assert.equal(code, 0);
  });
});

describe('requests', { concurrency: 4 }, () => {
  const asked = ['fs/read_text_file', 'fs/write_text_file', 'terminal/create', 'terminal/output', 'terminal/wait_for_exit', 'terminal/kill', 'terminal/release', 'elicitation/create',
    'initialize', 'session/new', 'session/prompt', '_private/thing', 'no/such', '', 'session/update', '$/cancel_request'];
  rows([
    ['what was not offered, and what there is not, is refused', 'asks-for-all', { out: '16 {-32601} done', err: asked.map(notOffered) }],
    ['notifications of what there is not are let go', 'tells-all', {
      out: 'done',
      err: ['python3: elicitation/complete needs `elicitationId`: a text', ...Array(2).fill('python3: elicitation/complete needs `elicitationId`: a text')],
    }],
    ['the answer has the id of the request, whatever it is', 'odd-ids', {
      out: `${'True '.repeat(8)}done`,
      err: [
        ...Array(8).fill(notOffered('x/y')),
        ...['true', '{}', '[1]'].map((id) => `python3: a JSON object on its standard output is neither a request nor an answer: {"jsonrpc":"2.0","id":${id},"method":"x/y"}`),
      ],
    }],
    ['its ids may be those of ours', 'our-ids', { out: 'yes done', err: [kAllowed] }, kApprove],
    ['two requests with one id have two answers', 'asks-twice', { out: 'yes yes done', err: [kAllowed, kAllowed] }, kApprove],
    ['permission that cannot be understood is refused with the reason', 'asks-badly', {
      out: '-32602 -32002 -32602 -32602 -32602 -32602 -32602 done',
      err: ['needs `sessionId`: a text', '', 'needs `toolCall`: an object', 'needs `toolCall.toolCallId`: a text', 'needs `options`: a list', 'needs `options`: a list', 'needs `sessionId`: a text']
        .map((why) => `python3: ${why ? `session/request_permission ${why}` : 'it asked for permission in session s2, which is not open'}`),
    }, kApprove],
    ['one that was answered is not taken back', 'asks-in-vain', { out: 'yes -32601 done', err: [kAllowed, notOffered('x/y')] }, kApprove],
  ]);
});

// What is chosen of these options with --approve, and without.
const kChoices = [
  ['no options', [], 'cancelled', 'cancelled'],
  ['nothing but no', [['no', 'reject_once']], 'no', 'no'],
  ['nothing but never', [['never', 'reject_always']], 'never', 'never'],
  ['unknown kinds', [['x', 'allow_forever'], ['y', '']], 'cancelled', 'cancelled'],
  ['an id that says the opposite of its kind', [['allow', 'reject_once'], ['reject', 'allow_once']], 'reject', 'allow'],
  ['once before always', [['a', 'allow_always'], ['b', 'allow_once'], ['c', 'reject_always'], ['d', 'reject_once']], 'b', 'd'],
  ['always where there is no once', [['a', 'allow_always'], ['c', 'reject_always']], 'a', 'c'],
];
describe('permission', { concurrency: 4 }, () => {
  for (const [what, options, approved, refused] of kChoices) {
    const allows = options.some(([id, kind]) => id === approved && kind.startsWith('allow_') && kind !== 'allow_forever');
    rows([
      [`${what}, with --approve`, ['asks', json(options)], { out: `${approved} done`, err: [allows ? kAllowed : kNothingAllows], code: allows ? 0 : 6 }, kApprove],
      [`${what}, without`, ['asks', json(options)], { out: `${refused} done`, err: [kNoTerminal], code: 6 }],
    ]);
  }
  rows([
    ['an id that both allows and refuses is never the refusal', ['asks', '[["x","allow_once"],["x","reject_once"]]'], { out: 'cancelled done', err: [kNoTerminal], code: 6 }],
  ]);

  test('at a terminal, what is still open when the turn ends is closed, and answered `cancelled`', async () => {
    const ran = begin('ends-while-asking', { terminal: true });
    await ran.shows(/1 to 2, or Enter to refuse: $/);
    ran.go();
    const { code, notes } = await ran.end();
    assert.deepEqual([code, notes], [0, ['cancelled']]);
  });

  test('at a terminal, what is taken back is answered `cancelled` without a word from anybody', async () => {
    const ran = begin(['asks-in-vain', 'later'], { terminal: true });
    await ran.shows(/1 to 2, or Enter to refuse: $/);
    ran.go();
    const { out, code } = await ran.end();
    assert.match(out, /cancelled -32601 done/);
    assert.equal(code, 0);
  });

  test('S6 at a terminal, Ctrl-C cancels the turn, and then what is open', async () => {
    const ran = begin(['asks', '[["yes","allow_once"]]'], { terminal: true });
    await ran.shows(/1 to 1, or Enter to refuse: $/);
    ran.type('\x03');
    const { out, code } = await ran.end();
    assert.match(out, /cancelled done/);
    assert.equal(code, 130);
  });

  test('at a terminal, two questions are asked one after the other', async () => {
    const ran = begin('asks-two-things', { terminal: true });
    await ran.shows(/Raise the anchor[^]*1 to 2, or Enter to refuse: $/);
    assert.ok(!ran.out.includes('Sound the horn'), ran.out);
    ran.type('1\n');
    await ran.shows(/Sound the horn[^]*1 to 2, or Enter to refuse: $/);
    ran.type('7\n');
    await ran.shows(/Enter to refuse: 7\s+1 to 2, or Enter to refuse: $/);
    ran.type('\n');
    const { out, code } = await ran.end();
    assert.match(out, /yes no done/);
    assert.equal(code, 0);
  });

  test('at a terminal, names neither act on it nor make lines', async () => {
    const ran = begin('escapes-in-names', { terminal: true });
    await ran.shows(/Enter to refuse: $/);
    ran.type('\n');
    const { out, code } = await ran.end();
    assert.match(out, /\r\n {2}1 {2}x watchbill-supervisor: forged \(x watchbill-supervisor: forged\)\r\n/);
    assert.ok(!/\x1b|^watchbill-supervisor/m.test(out), JSON.stringify(out));
    assert.equal(code, 0);
  });
});

test('every mode of the agent is tried', () => {
  const folder = new URL('.', import.meta.url).pathname;
  const tests = readdirSync(folder).filter((name) => name.endsWith('.test.mjs')).map((name) => readFileSync(folder + name, 'utf8')).join('');
  const modes = execFileSync('/usr/bin/python3', [kAgent, '--list'], { encoding: 'utf8' }).trimEnd().split('\n').map((line) => line.split('\t'));
  assert.deepEqual(modes.filter(([mode]) => !tests.includes(`'${mode}'`)), []);
  assert.deepEqual(modes.filter(([, , what]) => !/^[A-Z].*\.$/.test(what ?? '')), []);
});
