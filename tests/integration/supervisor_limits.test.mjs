// watchbill-supervisor serve with `limits`: how many agents run, who gives way, who is refused, who is stopped for being idle.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { until } from '../support/patience.mjs';
import { rpcClient } from '../support/rpc.mjs';
import { endLeftSupervisors, exampleAgent, spawnSupervisor } from '../support/supervisor.mjs';

after(endLeftSupervisors);

const misbehaving = new URL('../agents/misbehaving_agent.py', import.meta.url).pathname;
const agentOf = (name, mode) => ({ name, command: '/usr/bin/python3', args: [misbehaving, mode] });
const stateOf = async (rpc, name) => (await rpc.call('AgentService.List')).find((agent) => agent.name === name).state;
const reach = (rpc, name, state) => until(`${name} to be ${state}`, async () => (await stateOf(rpc, name)) === state, 20_000);

test('S4 at the limit the least recently used idle agent gives way, and is started again when it is needed', async () => {
  const supervisor = await spawnSupervisor({ config: { limits: { maxRunningAgents: 2 }, agents: ['a', 'b', 'c'].map((name) => exampleAgent(name)) } });
  const rpc = await rpcClient(supervisor);
  for (const name of ['b', 'a']) {
    await rpc.call('AgentService.Start', name);
    await reach(rpc, name, 'ready');
  }
  await rpc.call('AgentService.Start', 'c');
  await reach(rpc, 'c', 'ready');
  assert.equal(await stateOf(rpc, 'b'), 'stopped');
  assert.equal(await stateOf(rpc, 'a'), 'ready');
  // Never more than two at once, in the order in which pages heard of it.
  const states = {};
  for (const { agent, state } of rpc.events('agent:state')) {
    states[agent] = state;
    const up = Object.values(states).filter((word) => ['starting', 'ready', 'busy'].includes(word));
    assert.ok(up.length <= 2, JSON.stringify(states));
  }
  const channel = await rpc.call('ChannelService.Direct', 'b');
  await rpc.call('ChannelService.Send', channel.id, 'hello');
  await reach(rpc, 'a', 'stopped');
  const question = await rpc.event('permission:requested', () => true, 30_000);
  await rpc.call('ChannelService.AnswerPermission', question.id, question.options[0].optionId);
  assert.equal((await rpc.finished()).agent, 'b');
  rpc.close();
  await supervisor.stop();
});

test('S4 all of them busy: a start is refused in these words, and a message says so', async () => {
  const supervisor = await spawnSupervisor({
    config: { limits: { maxRunningAgents: 2 }, agents: [agentOf('one', 'ignores-everything'), agentOf('two', 'ignores-everything'), exampleAgent('three')] },
  });
  const rpc = await rpcClient(supervisor);
  for (const name of ['two', 'one']) {
    const { id } = await rpc.call('ChannelService.Direct', name);
    await rpc.call('ChannelService.Send', id, 'hello');
    await reach(rpc, name, 'busy');
  }
  const refusal = 'too many agents running: 2 agent(s) busy (one, two), the limit is 2';
  await assert.rejects(rpc.call('AgentService.Start', 'three'), (error) => error.message.includes(refusal));
  const { id } = await rpc.call('ChannelService.Direct', 'three');
  await rpc.call('ChannelService.Send', id, 'hello');
  const { message } = await rpc.event('message:updated', ({ message }) => message.code === 'agent-unavailable');
  assert.ok(message.error.includes(refusal), message.error);
  assert.equal(await stateOf(rpc, 'three'), 'stopped');
  rpc.close();
  await supervisor.stop();
});

test('S5 an agent that nobody uses is stopped at a look', async () => {
  const supervisor = await spawnSupervisor({ config: { limits: { stopIdleAgentsAfter: '1s' }, agents: [exampleAgent('a')] } });
  const rpc = await rpcClient(supervisor);
  await rpc.call('AgentService.Start', 'a');
  await reach(rpc, 'a', 'ready');
  // Looks are half a minute apart.
  await rpc.event('agent:state', ({ state }) => state === 'stopped', 60_000);
  assert.deepEqual(rpc.events('agent:state').map(({ state }) => state), ['starting', 'ready', 'stopped']);
  rpc.close();
  await supervisor.stop();
});
