// watchbill-supervisor serve, over its socket: conversations with real agents, who gets in, what is kept.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import WebSocket from 'ws';
import { until, within } from '../support/patience.mjs';
import { rpcClient, runtimeFile, textOf } from '../support/rpc.mjs';
import { endLeftSupervisors, exampleAgent, sdkAgent, spawnSupervisor } from '../support/supervisor.mjs';

after(endLeftSupervisors);

const misbehaving = new URL('../agents/misbehaving_agent.py', import.meta.url).pathname;
const agentOf = (mode) => ({ name: mode, command: '/usr/bin/python3', args: [misbehaving, mode] });

// Processes that carry the home of a supervisor, but for the supervisor itself.
function children(supervisor) {
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && Number(entry) !== supervisor.pid).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`HOME=${supervisor.folder}`);
    } catch {
      return false;
    }
  });
}

test('S18 a conversation with the SDK’s agent: events in order, allowed, kept over a restart', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [sdkAgent('sdk', { title: 'The example' })] } });
  const rpc = await rpcClient(supervisor);
  assert.deepEqual(await rpc.call('AgentService.List'), [
    { name: 'sdk', title: 'The example', icon: '', description: '', state: 'stopped', error: '', outdated: false },
  ]);
  const channel = await rpc.call('ChannelService.Direct', 'sdk');
  assert.equal(channel.direct, 'sdk');
  assert.equal((await rpc.call('ChannelService.Direct', 'sdk')).id, channel.id);
  const asked = await rpc.call('ChannelService.Send', channel.id, 'hello');
  // Events come before the result of the call that caused them.
  const answered = rpc.frames.findIndex((frame) => frame.result === asked);
  const shown = rpc.frames.findIndex((frame) => frame.method === 'message:updated' && frame.params.message.id === asked);
  assert.ok(shown >= 0 && shown < answered, `${shown} ${answered}`);
  const permission = await rpc.event('permission:requested');
  assert.equal(permission.toolCall.title, 'Modifying critical configuration file');
  assert.equal(permission.rejections, 0);
  assert.equal((await rpc.call('ChannelService.Conversation', channel.id)).permissions[0].id, permission.id);
  await assert.rejects(rpc.call('ChannelService.AnswerPermission', permission.id, 'nope'), (error) => error.data.code === 'unknown-option');
  await rpc.call('ChannelService.AnswerPermission', permission.id, permission.options.find(({ kind }) => kind === 'allow_once').optionId);
  await assert.rejects(rpc.call('ChannelService.AnswerPermission', permission.id, 'allow'), (error) => error.data.code === 'unknown-permission');
  const message = await rpc.finished();
  assert.match(textOf(message), /Perfect! I've successfully updated the configuration/);
  assert.equal(message.stopReason, 'end_turn');
  assert.deepEqual(rpc.events('agent:state').map(({ state }) => state), ['starting', 'ready', 'busy', 'ready']);
  // What pages draw from the events is what is kept.
  const streamed = [];
  for (const { messageId, index, text, part } of rpc.events('message:delta')) {
    if (messageId !== message.id) continue;
    if (part) streamed[index] = part;
    else streamed[index] = { kind: streamed[index]?.kind ?? 'text', text: (streamed[index]?.text ?? '') + text };
  }
  assert.deepEqual(streamed.map((part) => part.text ?? part.tool.status), message.parts.map((part) => part.text ?? part.tool.status));
  const numbers = rpc.frames.filter((frame) => 'seq' in frame).map((frame) => frame.seq);
  assert.deepEqual(numbers, numbers.map((_, index) => numbers[0] + index));
  rpc.close();
  assert.deepEqual(await supervisor.end(), { code: 0, signal: null });
  assert.deepEqual(children(supervisor), []);

  const again = await spawnSupervisor({ folder: supervisor.folder });
  const after = await rpcClient(again);
  const conversation = await after.call('ChannelService.Conversation', channel.id);
  assert.deepEqual(conversation.messages.map(({ id }) => id), [asked, message.id]);
  assert.deepEqual(conversation.messages[1], message);
  assert.equal(conversation.busy, false);
  after.close();
  await again.stop();
});

test('S22 refused: the agent goes on without it; cancelled while it asks: the request is closed', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [sdkAgent('sdk')] } });
  const rpc = await rpcClient(supervisor);
  const { id } = await rpc.call('ChannelService.Direct', 'sdk');
  await rpc.call('ChannelService.Send', id, 'hello');
  const first = await rpc.event('permission:requested');
  await rpc.call('ChannelService.AnswerPermission', first.id, first.options.find(({ kind }) => kind === 'reject_once').optionId);
  assert.match(textOf(await rpc.finished()), /I'll skip the configuration update\.$/);
  await rpc.call('ChannelService.Send', id, 'again');
  await rpc.call('ChannelService.Send', id, 'and again');
  const second = await rpc.event('permission:requested', (p) => p.id !== first.id);
  await rpc.call('ChannelService.Cancel', id);
  assert.ok(rpc.events('permission:resolved').some((p) => p.id === second.id));
  await rpc.event('turn:changed', (turn) => turn === rpc.events('turn:changed').at(-1) && !turn.busy);
  const { messages } = await rpc.call('ChannelService.Conversation', id);
  const dropped = messages.find((m) => m.role === 'user' && textOf(m) === 'and again');
  assert.equal(dropped.error, 'cancelled');
  rpc.close();
  await supervisor.stop();
});

test('S17 our example agent: Markdown word by word, thought, plan, diff, commands, usage', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [exampleAgent('example', { args: ['--acp', '--word-ms', '1'] })] } });
  const rpc = await rpcClient(supervisor);
  const { id } = await rpc.call('ChannelService.Direct', 'example');
  await rpc.call('ChannelService.Send', id, '<b>hello</b> | `there`');
  const permission = await rpc.event('permission:requested');
  assert.equal(permission.toolCall.diffs.length, 1);
  await rpc.call('ChannelService.AnswerPermission', permission.id, permission.options.find(({ kind }) => kind === 'allow_once').optionId);
  const message = await rpc.finished();
  const kinds = new Set(message.parts.map((part) => part.kind));
  assert.deepEqual([...kinds].sort(), ['plan', 'text', 'thought', 'tool']);
  assert.match(textOf(message), /<b>hello<\/b>/);
  assert.ok(message.parts.find((part) => part.kind === 'plan').entries.every((entry) => entry.status === 'completed'));
  const usage = await rpc.event('usage:changed');
  assert.ok(usage.usage.used > 0 && usage.usage.size > usage.usage.used);
  const commands = await rpc.call('ChannelService.Commands', 'example');
  assert.ok(commands.some(({ name }) => name === 'plan'));
  rpc.close();
  await supervisor.end();
  const again = await spawnSupervisor({ folder: supervisor.folder });
  const after = await rpcClient(again);
  assert.deepEqual(await after.call('ChannelService.Commands', 'example'), commands); // S23: from one run to the next
  after.close();
  await again.stop();
});

test('S20 twenty kills in the middle of a stream: what was whole is there, what was not is not, and no agent is left', async () => {
  const config = { agents: [exampleAgent('example', { args: ['--acp', '--word-ms', '2'] })] };
  let supervisor = await spawnSupervisor({ config });
  const { folder } = supervisor;
  const confirmed = []; // ids of messages that we were told are whole
  let channel = null;
  for (let round = 0; round < 20; ++round) {
    const rpc = await rpcClient(supervisor);
    channel ??= (await rpc.call('ChannelService.Direct', 'example')).id;
    const { messages, busy } = await rpc.call('ChannelService.Conversation', channel);
    assert.equal(busy, false);
    const there = new Set(messages.map(({ id }) => id));
    for (const id of confirmed.slice(-90)) assert.ok(there.has(id), `round ${round}: ${id} was confirmed and is gone`);
    assert.ok(messages.every((m) => m.done), 'nothing half is kept');
    // One that is whole, then one that is killed on its way.
    confirmed.push(await rpc.call('ChannelService.Send', channel, '/tale 5'));
    const whole = await rpc.finished();
    confirmed.push(whole.id);
    assert.equal(textOf(whole).trim().split(/\s+/).length >= 5, true);
    confirmed.push(await rpc.call('ChannelService.Send', channel, '/tale 20000'));
    const streaming = await rpc.event('message:delta', ({ messageId }) => messageId !== whole.id);
    await new Promise((resolve) => setTimeout(resolve, 7 * (round % 5)));
    process.kill(supervisor.pid, 'SIGKILL');
    await within(10_000, 'the supervisor to end', supervisor.ended);
    rpc.close();
    supervisor = await spawnSupervisor({ folder });
    // The sweep is over before it listens.
    assert.deepEqual(children(supervisor), [], `round ${round}: an agent was left`);
    const next = await rpcClient(supervisor);
    const kept = await next.call('ChannelService.Conversation', channel);
    assert.ok(!kept.messages.some(({ id }) => id === streaming.messageId), `round ${round}: the interrupted answer was kept`);
    next.close();
  }
  assert.equal(confirmed.length, 60);
  await supervisor.stop();
});

test('S3 an agent that cannot be started is said in the conversation, and in the answer to Start', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [{ name: 'ghost', command: 'no-such-agent' }, agentOf('ends-at-once'), agentOf('version-2')] } });
  const rpc = await rpcClient(supervisor);
  await assert.rejects(rpc.call('AgentService.Start', 'ghost'), (error) => error.data.code === 'agent-failed' && /was not found in PATH/.test(error.message));
  const { id } = await rpc.call('ChannelService.Direct', 'ends-at-once');
  await rpc.call('ChannelService.Send', id, 'hello');
  const { message } = await rpc.event('message:updated', ({ message: m }) => m.code === 'agent-unavailable');
  assert.match(message.error, /exit code 3[^]*the licence has run out/);
  await assert.rejects(rpc.call('AgentService.Start', 'version-2'), /speaks ACP version 2 alone/);
  const list = await rpc.call('AgentService.List');
  assert.deepEqual(list.map(({ state }) => state), ['error', 'error', 'error']);
  assert.match(list[0].error, /no-such-agent/);
  assert.deepEqual(await rpc.call('AgentService.Logs', 'ends-at-once'), ['the licence has run out', 'ask the harbour master']);
  await assert.rejects(rpc.call('AgentService.Start', 'nobody'), (error) => error.data.code === 'unknown-agent');
  rpc.close();
  await supervisor.stop();
});

test('S2 start, stop, stop while it answers, restart', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [exampleAgent('example'), agentOf('ends-in-the-middle')] } });
  const rpc = await rpcClient(supervisor);
  const state = async (name) => (await rpc.call('AgentService.List')).find((agent) => agent.name === name).state;
  await rpc.call('AgentService.Start', 'example');
  assert.equal(await state('example'), 'ready');
  await rpc.call('AgentService.Stop', 'example');
  assert.equal(await state('example'), 'stopped');
  assert.deepEqual(children(supervisor), []);
  const { id } = await rpc.call('ChannelService.Direct', 'example');
  await rpc.call('ChannelService.Send', id, '/tale 20000');
  await rpc.event('message:delta');
  await rpc.call('AgentService.Stop', 'example');
  const message = await rpc.finished();
  assert.equal(message.stopReason, 'cancelled'); // as a good agent answers when its input ends
  await rpc.call('AgentService.Restart', 'example');
  assert.equal(await state('example'), 'ready');
  const other = await rpc.call('ChannelService.Direct', 'ends-in-the-middle');
  await rpc.call('ChannelService.Send', other.id, 'x');
  const half = await rpc.finished((m) => m.agent === 'ends-in-the-middle');
  assert.equal(textOf(half), 'half of an ');
  assert.match(half.error, /exit code 9/);
  await until('its state to be error', async () => (await state('ends-in-the-middle')) === 'error');
  rpc.close();
  await supervisor.stop();
});

test('S25 nobody gets in without the link or the token, and the link works once', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [] } });
  const url = supervisor.url;
  const status = (path, headers = {}) => fetch(url + path, { headers, redirect: 'manual' }).then((answer) => answer.status);
  assert.equal(await status('/session'), 401);
  assert.equal(await status('/'), 200); // the page itself holds nothing
  const opened = await fetch(supervisor.link, { redirect: 'manual' });
  assert.equal(opened.status, 303);
  const set = opened.headers.get('set-cookie');
  assert.match(set, /HttpOnly; SameSite=Strict/);
  const cookie = set.split(';')[0];
  assert.equal(await status('/session', { cookie }), 204);
  assert.equal(await fetch(supervisor.link, { redirect: 'manual' }).then((answer) => answer.status), 403);
  assert.equal(await status('/open/..%2f..%2fcookie'), 403);
  assert.equal(await status('/session', { cookie: cookie.replace(/.$/, (c) => (c === '0' ? '1' : '0')) }), 401);
  const dial = (headers) =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc`, { headers });
      socket.once('open', () => (socket.terminate(), resolve('open')));
      socket.once('unexpected-response', (_, answer) => (socket.terminate(), resolve(answer.statusCode)));
      socket.once('error', () => {});
    });
  const { token, path, pid, config } = runtimeFile(supervisor);
  assert.equal(pid, supervisor.pid);
  assert.equal(config, supervisor.config);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(await dial({}), 401);
  assert.equal(await dial({ authorization: 'Bearer nonsense' }), 401);
  assert.equal(await dial({ authorization: `Bearer ${token}` }), 'open');
  assert.equal(await dial({ cookie }), 'open');
  assert.equal(await dial({ cookie, origin: 'http://evil.example' }), 403);
  assert.equal(await dial({ cookie, host: 'evil.example' }), 421);
  await supervisor.end();
  const again = await spawnSupervisor({ folder: supervisor.folder, port: supervisor.port });
  assert.equal(await status('/session', { cookie }), 204); // a page that is open comes back by itself
  assert.equal(await dial({ authorization: `Bearer ${token}` }), 401); // the token is new at each start
  await again.stop();
});

test('S25 what is no request, no method, and no parameter is answered with a code and a sentence', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [agentOf('well')] } });
  const rpc = await rpcClient(supervisor);
  const raw = async (text) => {
    const before = rpc.frames.length;
    rpc.socket.send(text);
    return until('an answer', () => rpc.frames.slice(before).find((frame) => 'id' in frame));
  };
  assert.equal((await raw('{')).error.code, -32700);
  assert.equal((await raw('[1,2]')).error.code, -32600);
  assert.equal((await raw('{"jsonrpc":"2.0","id":{},"method":"AgentService.List"}')).error.code, -32600);
  assert.equal((await raw('{"jsonrpc":"2.0","id":"a","method":"constructor"}')).error.code, -32601);
  const missing = await raw('{"jsonrpc":"2.0","id":7,"method":"ChannelService.Send","params":["x"]}');
  assert.deepEqual([missing.id, missing.error.code, missing.error.data], [7, -32602, { code: 'bad-params', args: { param: 'text' } }]);
  const { id } = await rpc.call('ChannelService.Direct', 'well');
  // By name as well, and ids go back as they came.
  const named = await raw(JSON.stringify({ jsonrpc: '2.0', id: 'é', method: 'ChannelService.Send', params: { text: 'hi', id } }));
  assert.equal(named.id, 'é');
  assert.equal(typeof named.result, 'string');
  await assert.rejects(rpc.call('ChannelService.Send', id, '  '), (error) => error.data.code === 'empty-text');
  await assert.rejects(
    rpc.call('ChannelService.Send', id, 'x'.repeat((1 << 20) + 1)),
    (error) => error.data.code === 'text-too-long' && error.data.args.limit === '1048576',
  );
  await assert.rejects(rpc.call('ChannelService.Send', 'nowhere', 'x'), (error) => error.data.code === 'unknown-channel');
  assert.equal(textOf(await rpc.finished()), 'you said: hi');
  rpc.close();
  await supervisor.stop();
});

test('S20 a second supervisor of one configuration keeps its history in memory, and says so', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [agentOf('well')] } });
  const second = await spawnSupervisor({ folder: supervisor.folder });
  const rpc = await rpcClient(second);
  const { historyProblem } = await rpc.call('ConfigService.Current');
  assert.match(historyProblem, new RegExp(`${supervisor.pid}`));
  const { id } = await rpc.call('ChannelService.Direct', 'well');
  await rpc.call('ChannelService.Send', id, 'hi');
  await rpc.finished();
  assert.equal((await rpc.call('ChannelService.Conversation', id)).messages.length, 2);
  rpc.close();
  await second.end();
  await supervisor.stop();
});

test('S20 a full disk is said, takes nothing from a conversation, and is gone on with once there is room', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchbill-supervisor-'));
  const disk = join(folder, 'config');
  mkdirSync(disk);
  // A disk of its own, of four megabytes, that goes with the process.
  const small = 'mount -t tmpfs -o size=4m none "$0" && head -c 1500000 /dev/zero >"$0/ballast" && exec "$@"';
  const root = process.getuid() === 0 ? [] : ['--map-root-user'];
  const through = ['unshare', ...root, '--mount', '--propagation', 'private', 'sh', '-c', small, disk];
  const supervisor = await spawnSupervisor({ config: { agents: [agentOf('well')] }, folder, through });
  const rpc = await rpcClient(supervisor);
  const { id } = await rpc.call('ChannelService.Direct', 'well');
  const problem = async () => (await rpc.call('ConfigService.Current')).historyProblem;
  const send = async (text) => {
    const asked = await rpc.call('ChannelService.Send', id, text);
    await rpc.finished((m) => m.id > asked);
  };
  const texts = [];
  while ((await problem()) === '') {
    assert.ok(texts.length < 60, 'the disk does not fill');
    texts.push(`${texts.length} ${'x'.repeat(100_000)}`);
    await send(texts.at(-1));
  }
  assert.match(await problem(), /full|No space left/);
  texts.push('while it is full');
  await send(texts.at(-1));
  const said = async () => (await rpc.call('ChannelService.Conversation', id)).messages.filter((m) => m.role === 'user').map(textOf);
  assert.deepEqual(await said(), texts);
  rmSync(`/proc/${supervisor.pid}/root${disk}/ballast`);
  texts.push('there is room again');
  await send(texts.at(-1));
  assert.equal(await problem(), '');
  assert.deepEqual(await said(), texts);
  rpc.close();
  await supervisor.stop();
});

test('S18 the last hundred, and the hundred before', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [agentOf('well')] } });
  const rpc = await rpcClient(supervisor);
  const { id } = await rpc.call('ChannelService.Direct', 'well');
  for (let i = 0; i < 75; ++i) {
    const asked = await rpc.call('ChannelService.Send', id, `number ${i}`);
    await rpc.finished((m) => m.id > asked);
  }
  const last = await rpc.call('ChannelService.Conversation', id);
  assert.equal(last.messages.length, 100);
  assert.equal(last.more, true);
  const older = await rpc.call('ChannelService.Older', id, last.messages[0].id);
  assert.equal(older.messages.length, 50);
  assert.equal(older.more, false);
  const all = [...older.messages, ...last.messages].filter((m) => m.role === 'user').map(textOf);
  assert.deepEqual(all, Array.from({ length: 75 }, (_, i) => `number ${i}`));
  rpc.close();
  await supervisor.stop();
});
