// The example agent as an agent of the Agent Client Protocol: over its pipes, with a client of its own and with the
// protocol's SDK. Whatever it writes is held against the protocol's JSON schema.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { after, test } from 'node:test';
import * as acp from '@agentclientprotocol/sdk';
import { program, runProgram } from '../support/monitor.mjs';
import { until, within } from '../support/patience.mjs';

const home = mkdtempSync(join(tmpdir(), 'watchbill-acp-'));
const children = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

const schema = JSON.parse(readFileSync(new URL('../node_modules/@agentclientprotocol/sdk/schema/schema.json', import.meta.url)));

const kTypes = {
  object: (v) => typeof v === 'object' && v !== null && !Array.isArray(v),
  array: Array.isArray,
  string: (v) => typeof v === 'string',
  boolean: (v) => typeof v === 'boolean',
  number: (v) => typeof v === 'number',
  integer: Number.isInteger,
  null: (v) => v === null,
};

// As much of JSON Schema as the protocol's schema uses.
function fits(value, rule) {
  if (rule === true || rule === undefined) return true;
  if (rule.$ref && !fits(value, schema.$defs[rule.$ref.slice('#/$defs/'.length)])) return false;
  if (rule.type && ![rule.type].flat().some((type) => kTypes[type](value))) return false;
  if ('const' in rule && value !== rule.const) return false;
  if (rule.enum && !rule.enum.includes(value)) return false;
  if (rule.minimum !== undefined && kTypes.number(value) && value < rule.minimum) return false;
  if (rule.maximum !== undefined && kTypes.number(value) && value > rule.maximum) return false;
  if (rule.anyOf && !rule.anyOf.some((one) => fits(value, one))) return false;
  if (rule.oneOf && rule.oneOf.filter((one) => fits(value, one)).length !== 1) return false;
  if (rule.allOf && !rule.allOf.every((one) => fits(value, one))) return false;
  if (rule.not && fits(value, rule.not)) return false;
  if (kTypes.array(value) && rule.items && !value.every((one) => fits(one, rule.items))) return false;
  if (!kTypes.object(value)) return true;
  return (rule.required ?? []).every((name) => name in value) && Object.entries(value).every(([name, one]) => fits(one, rule.properties?.[name]));
}
const isOf = (value, type) => fits(value, schema.$defs[type]);

const kResults = { initialize: 'InitializeResponse', 'session/new': 'NewSessionResponse', 'session/prompt': 'PromptResponse' };
const kCalls = { 'session/update': 'SessionNotification', 'session/request_permission': 'RequestPermissionRequest', '$/cancel_request': 'CancelRequestNotification' };

function checkMessage(message, method) {
  assert.equal(message.jsonrpc, '2.0');
  if (message.error) return assert.ok(Number.isInteger(message.error.code) && typeof message.error.message === 'string', JSON.stringify(message));
  const type = message.method ? kCalls[message.method] : kResults[method];
  assert.ok(type, `no such message is expected: ${JSON.stringify(message)}`);
  assert.ok(isOf(message.method ? message.params : message.result, type), `${type} is not what the schema says: ${JSON.stringify(message)}`);
}

test('the schema check tells right from wrong', () => {
  const update = (words) => ({ sessionId: 's', update: words });
  assert.ok(isOf(update({ sessionUpdate: 'usage_update', used: 1, size: 2 }), 'SessionNotification'));
  assert.ok(!isOf(update({ sessionUpdate: 'usage_update', used: 'x', size: 2 }), 'SessionNotification'));
  assert.ok(!isOf(update({ sessionUpdate: 'tool_call', title: 'no id' }), 'SessionNotification'));
  assert.ok(!isOf(update({ sessionUpdate: 'plan', entries: [{ content: 'a', priority: 'high', status: 'done' }] }), 'SessionNotification'));
});

function start(args = ['--word-ms', '0'], stdio = ['pipe', 'pipe', 'pipe']) {
  const child = spawn(program('watchbill-example-agent'), ['--acp', ...args], { stdio, env: { PATH: process.env.PATH } });
  children.push(child);
  child.ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  child.errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => (child.errors += text));
  child.stdin?.on('error', () => {});
  return child;
}

// A client that keeps all that the agent says. `answer` gives the option for a permission, or the whole outcome.
function client(args) {
  const child = start(args);
  const messages = [];
  const asked = new Map();
  const methods = new Map();
  let last = 0;
  let words = 0;
  let rest = '';
  const it = {
    child,
    messages,
    answer: () => 'allow-once',
    send: (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    notify: (method, params) => it.send({ method, params }),
    request: (method, params) => {
      const id = ++last;
      methods.set(id, method);
      const answer = new Promise((resolve, reject) => asked.set(id, { resolve, reject }));
      it.send({ id, method, params });
      return Object.assign(within(60_000, `the answer to ${method}`, answer), { id });
    },
    open: async () => {
      if (!methods.size) await it.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
      return (await it.request('session/new', { cwd: home, mcpServers: [] })).result.sessionId;
    },
    prompt: (sessionId, text) => it.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    updates: (sessionId, kind) =>
      messages.filter((m) => m.method === 'session/update' && m.params.sessionId === sessionId).map((m) => m.params.update)
        .filter((u) => !kind || u.sessionUpdate === kind),
    text: (sessionId) => it.updates(sessionId, 'agent_message_chunk').map((u) => u.content.text).join(''),
    questions: (sessionId) => messages.filter((m) => m.method === 'session/request_permission' && m.params.sessionId === sessionId),
    // How a tool call of that kind went, by its statuses.
    statuses: (sessionId, kind) => {
      const ids = it.updates(sessionId, 'tool_call').filter((u) => u.kind === kind).map((u) => u.toolCallId);
      return ids.map((id) => it.updates(sessionId).filter((u) => u.toolCallId === id).map((u) => u.status).join(' '));
    },
    end: async () => {
      child.stdin.end();
      assert.equal(await within(10_000, 'the agent to end', child.ended), 0);
      assert.equal(rest, '');
    },
  };
  child.once('close', () => {
    for (const { reject } of asked.values()) reject(new Error('the agent has ended'));
  });
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      // The words of a long tale are all alike, and a check costs more than a word.
      const isWord = message.params?.update?.sessionUpdate === 'agent_message_chunk';
      if (!isWord || ++words < 500) checkMessage(message, methods.get(message.id));
      messages.push(message);
      if (message.method === 'session/request_permission') {
        const given = it.answer(message.params);
        if (given) it.send({ id: message.id, result: { outcome: typeof given === 'string' ? { outcome: 'selected', optionId: given } : given } });
      } else if (!message.method) {
        asked.get(message.id)?.resolve(message);
        asked.delete(message.id);
      }
    }
  });
  return it;
}

const kHostile = 'What is <img src=x onerror=alert(1)>?\r\n```\n\u001b[31mred\u001b[0m \u202e"\\ \ud83d\udea2\n# no heading\r> quoted';

test('a whole turn, allowed', async () => {
  const agent = client();
  const session = await agent.open();
  assert.equal(agent.messages[0].result.agentInfo.name, 'watchbill-example-agent');
  const commands = await until('the commands', () => agent.updates(session, 'available_commands_update')[0]);
  assert.deepEqual(commands.availableCommands.map((c) => [c.name, c.input?.hint]), [['plan', 'what to plan'], ['tale', 'how many words'], ['ask', undefined]]);

  const ended = await agent.prompt(session, kHostile);
  assert.equal(ended.result.stopReason, 'end_turn');
  const updates = agent.updates(session).slice(1);
  assert.equal(updates[0].sessionUpdate, 'agent_thought_chunk');
  assert.deepEqual(updates.filter((u) => u.sessionUpdate === 'plan').map((u) => u.entries.map((e) => e.status).join(' ')), [
    'pending pending pending', 'in_progress pending pending', 'completed in_progress pending', 'completed completed in_progress', 'completed completed completed']);
  const read = updates.find((u) => u.kind === 'read');
  assert.deepEqual(read.locations, [{ path: join(home, 'berths.txt'), line: 2 }]);
  assert.match(read.content[0].content.text, /3 Coot/);
  assert.deepEqual(agent.statuses(session, 'read'), ['completed']);
  assert.deepEqual(agent.statuses(session, 'edit'), ['pending in_progress completed']);
  const [question] = agent.questions(session);
  assert.deepEqual(question.params.options.map((o) => [o.kind, o.name]),
    [['allow_once', 'Allow once'], ['allow_always', 'Always allow'], ['reject_once', 'Reject'], ['reject_always', 'Never allow']]);
  const [diff] = question.params.toolCall.content;
  assert.equal(diff.type, 'diff');
  assert.match(diff.oldText, /3 Coot/);
  assert.match(diff.newText, /3 free/);
  const text = agent.text(session);
  assert.ok(text.includes('\n\n> What is <img src=x onerror=alert(1)>?\n> ```\n> \u001b[31mred\u001b[0m \u202e"\\ \ud83d\udea2\n> # no heading\n> > quoted\n\n'), text);
  for (const piece of [/^# The berth list\n\n/, /\n- the \*Auk\*/, /\n```sh\n/, /\n\|------:\|/, /\[Agent Client Protocol\]\(https:/, /berth 3 is corrected/]) assert.match(text, piece);
  // A word an update, no more and no less.
  for (const { content } of agent.updates(session, 'agent_message_chunk')) assert.match(content.text, /^[^ \t\r\n]+[ \t\r\n]*$/u);
  assert.equal(updates.at(-1).sessionUpdate, 'usage_update');
  assert.equal(updates.at(-1).size, 200_000);
  assert.deepEqual(agent.messages.at(-1), { jsonrpc: '2.0', id: ended.id, result: { stopReason: 'end_turn' } });
  await until('its lines', () => /it speaks ACP on standard input and output[\s\S]*a prompt/.test(agent.child.errors));
  await agent.end();
});

test('refused: it leaves the file as it is, and asks again the next time', async () => {
  const agent = client();
  agent.answer = () => 'reject-once';
  const session = await agent.open();
  assert.equal((await agent.prompt(session, 'hello')).result.stopReason, 'end_turn');
  assert.deepEqual(agent.statuses(session, 'edit'), ['pending failed']);
  assert.match(agent.text(session), /the file is left as it is/);
  const before = agent.updates(session, 'usage_update').at(-1);
  await agent.prompt(session, 'hello');
  assert.equal(agent.questions(session).length, 2);
  const now = agent.updates(session, 'usage_update').at(-1);
  assert.ok(now.used > before.used && now.cost.amount > before.cost.amount && now.cost.currency === 'USD');
  await agent.end();
});

test('always is asked once a session', async () => {
  const agent = client();
  agent.answer = ({ sessionId }) => (sessionId === allowed ? 'allow-always' : 'reject-always');
  const allowed = await agent.open();
  const refused = await agent.open();
  for (const session of [allowed, refused]) {
    await agent.prompt(session, 'hello');
    await agent.prompt(session, '/ask');
    assert.equal(agent.questions(session).length, 1);
  }
  assert.deepEqual(agent.statuses(allowed, 'edit'), ['pending in_progress completed', 'pending in_progress completed']);
  assert.deepEqual(agent.statuses(refused, 'edit'), ['pending failed', 'pending failed']);
  await agent.end();
});

test('cancelled while it speaks, in both ways', async () => {
  const agent = client(['--word-ms', '5']);
  const session = await agent.open();
  for (const cancel of [() => agent.notify('session/cancel', { sessionId: session }), (id) => agent.notify('$/cancel_request', { requestId: id })]) {
    const before = agent.updates(session, 'agent_message_chunk').length;
    const turn = agent.prompt(session, '/tale 20000');
    await until('some words', () => agent.updates(session, 'agent_message_chunk').length > before + 3);
    assert.equal((await agent.request('session/prompt', { sessionId: session, prompt: [] })).error.code, -32600);
    cancel(turn.id);
    assert.equal((await turn).result.stopReason, 'cancelled');
    assert.ok(agent.updates(session, 'agent_message_chunk').length < before + 20_000);
    assert.equal(agent.messages.at(-1).id, turn.id);
  }
  // And it takes the next one.
  assert.equal((await agent.prompt(session, '/tale 2')).result.stopReason, 'end_turn');
  await agent.end();
});

test('cancelled while a permission is open', async () => {
  const agent = client();
  agent.answer = () => null;
  const session = await agent.open();
  const turn = agent.prompt(session, '/ask');
  const question = await until('the question', () => agent.questions(session)[0]);
  agent.notify('session/cancel', { sessionId: session });
  agent.send({ id: question.id, result: { outcome: { outcome: 'cancelled' } } });
  assert.equal((await turn).result.stopReason, 'cancelled');
  assert.deepEqual(agent.statuses(session, 'edit'), ['pending failed']);
  // The answer alone ends it as well.
  agent.answer = () => ({ outcome: 'cancelled' });
  assert.equal((await agent.prompt(session, 'hello')).result.stopReason, 'cancelled');
  assert.deepEqual(agent.statuses(session, 'edit'), ['pending failed', 'pending failed']);
  await agent.end();
});

test('two sessions at the same time', async () => {
  const agent = client(['--word-ms', '2']);
  const [one, two] = [await agent.open(), await agent.open()];
  const turns = await Promise.all([agent.prompt(one, '/tale 60'), agent.prompt(two, '/tale 60')]);
  assert.deepEqual(turns.map((t) => t.result.stopReason), ['end_turn', 'end_turn']);
  const order = agent.messages.filter((m) => m.params?.update?.sessionUpdate === 'agent_message_chunk').map((m) => m.params.sessionId);
  assert.equal(order.length, 120);
  // Neither waits for the other's end.
  assert.ok(order.indexOf(two) < order.lastIndexOf(one) && order.indexOf(one) < order.lastIndexOf(two));
  await agent.end();
});

test('a long tale has all its words, also for a reader that pauses', async () => {
  const agent = client();
  const [told, other] = [await agent.open(), await agent.open()];
  const turn = agent.prompt(told, '/tale 20000');
  await until('some words', () => agent.updates(told, 'agent_message_chunk').length > 10);
  agent.child.stdout.pause();
  // More than pipes hold, so that it is stuck in writing: it goes on reading nevertheless, or this would be too.
  const filler = 'x'.repeat(1 << 20);
  const written = new Promise((resolve) => agent.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'no/such', params: { filler } })}\n`, resolve));
  await within(10_000, 'the agent to read on', written);
  const meanwhile = agent.prompt(other, '/tale 5');
  agent.child.stdout.resume();
  assert.equal((await turn).result.stopReason, 'end_turn');
  assert.equal((await meanwhile).result.stopReason, 'end_turn');
  assert.equal(agent.updates(told, 'agent_message_chunk').length, 20_000);
  assert.equal(agent.text(told).split(/\s+/).length, 20_000);
  assert.equal(agent.updates(other, 'agent_message_chunk').length, 5);
  await agent.end();
});

test('what it cannot take', async () => {
  const agent = client();
  assert.equal((await agent.request('session/new', { cwd: home, mcpServers: [] })).error.code, -32600);
  assert.equal((await agent.request('initialize', { protocolVersion: 2 })).result.protocolVersion, 1);
  assert.equal((await agent.request('session/new', { cwd: 'here', mcpServers: [] })).error.code, -32602);
  assert.equal((await agent.request('session/load', {})).error.code, -32601);
  agent.notify('no/such', {});
  for (let i = 0; i < 50; ++i) agent.child.stdin.write('this is no JSON\n{"half":\n\n');
  const session = await agent.open();
  await agent.prompt(session, '/dance');
  assert.match(agent.text(session), /no command `\/dance`.*`\/plan`, `\/tale`, `\/ask`/);
  assert.deepEqual([...new Set(agent.messages.filter((m) => m.id === null).map((m) => m.error.code))], [-32700]);
  await agent.end();
});

test('it ends with its input, at a signal, and when nobody listens', async () => {
  const open = async () => {
    const agent = client(['--word-ms', '20']);
    const session = await agent.open();
    const turn = agent.prompt(session, '/tale 20000');
    await until('some words', () => agent.updates(session, 'agent_message_chunk').length > 2);
    return { agent, turn };
  };
  const byInput = await open();
  await byInput.agent.end();
  assert.equal((await byInput.turn).result.stopReason, 'cancelled');
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const { agent, turn } = await open();
    agent.child.kill(signal);
    assert.equal(await within(10_000, 'the agent to end', agent.child.ended), 0);
    assert.equal((await turn).result.stopReason, 'cancelled');
  }
  const { agent, turn } = await open();
  agent.child.stdout.destroy();
  await assert.rejects(turn, /the agent has ended/);
  assert.equal(await within(10_000, 'the agent to end', agent.child.ended), 0);
  // Also where it has nothing to say.
  const idle = start();
  await until('its first line', () => idle.errors.includes('speaks ACP'));
  idle.stdout.destroy();
  assert.equal(await within(10_000, 'the idle agent to end', idle.ended), 0);
});

test('files and pipes of a shell as its input and output', async () => {
  const [requests, answers] = [join(home, 'requests.ndjson'), join(home, 'answers.ndjson')];
  writeFileSync(requests, ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}',
    '{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}'].join('\n'));  // no newline at the end
  const ids = (text) => text.trim().split('\n').map((line) => JSON.parse(line)).filter((m) => 'id' in m).map((m) => m.id);
  writeFileSync(answers, '');
  const [input, output] = [openSync(requests, 'r'), openSync(answers, 'a')];
  const child = start([], [input, output, 'pipe']);
  closeSync(input);
  closeSync(output);
  assert.equal(await within(10_000, 'the agent to end', child.ended), 0);
  assert.deepEqual(ids(readFileSync(answers, 'utf8')), [1, 2]);

  const shell = async (line) => {
    const run = spawn('sh', ['-c', line, program('watchbill-example-agent'), requests], { stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(run);
    let [stdout, stderr] = ['', ''];
    run.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    run.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    return { code: await within(10_000, line, new Promise((resolve) => run.once('close', resolve))), stdout, stderr };
  };
  const piped = await shell('cat "$1" | "$0" --acp | cat');
  assert.deepEqual(ids(piped.stdout), [1, 2]);
  assert.equal((await shell('"$0" --acp < /dev/null > /dev/null')).code, 0);
  const full = await shell('"$0" --acp < "$1" > /dev/full');
  assert.equal(full.code, 0);
  assert.match(full.stderr, /No space left/);
  const closed = await shell('"$0" --acp <&-');
  assert.equal(closed.code, 2);
  assert.match(closed.stderr, /standard input is closed/);
});

test('options that do not go together are refused', async () => {
  for (const [args, says] of [
    [['--acp', '--monitor', 'http://127.0.0.1:1'], /--monitor means nothing with --acp/],
    [['--acp', '--every', '5'], /--every means nothing with --acp/],
    [['--acp', '--word-ms', '-1'], /--word-ms is a number from 0 to 60000/],
    [['--word-ms', '5', '--monitor', 'http://127.0.0.1:1'], /--word-ms goes with --acp/],
  ]) {
    const ran = await runProgram('watchbill-example-agent', args);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, says);
    assert.equal(ran.stdout, '');
  }
});

test("the protocol's own SDK as the client", async () => {
  const child = start();
  const updates = [];
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const connection = new acp.ClientSideConnection(() => ({
    requestPermission: async ({ options }) => ({ outcome: { outcome: 'selected', optionId: options.find((o) => o.kind === 'allow_once').optionId } }),
    sessionUpdate: async ({ update }) => updates.push(update),
  }), stream);
  const agent = await connection.initialize({ protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
  assert.equal(agent.protocolVersion, 1);
  assert.equal(agent.agentInfo.title, 'Example agent');
  const { sessionId } = await connection.newSession({ cwd: home, mcpServers: [] });
  const turn = await within(20_000, 'the turn', connection.prompt({ sessionId, prompt: [{ type: 'text', text: 'Hello' }, { type: 'resource_link', name: 'notes', uri: 'file:///notes' }] }));
  assert.equal(turn.stopReason, 'end_turn');
  const text = updates.filter((u) => u.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text).join('');
  assert.match(text, /> Hello\n> notes <file:\/\/\/notes>\n/);
  assert.ok(updates.some((u) => u.sessionUpdate === 'tool_call_update' && u.status === 'completed'));
  await assert.rejects(connection.prompt({ sessionId: 'none', prompt: [] }), (error) => error.code === -32002);
  const long = connection.prompt({ sessionId, prompt: [{ type: 'text', text: '/tale 20000' }] });
  await connection.cancel({ sessionId });
  assert.equal((await within(20_000, 'the cancelled turn', long)).stopReason, 'cancelled');
  child.kill('SIGTERM');
  assert.equal(await within(10_000, 'the agent to end', child.ended), 0);
});
