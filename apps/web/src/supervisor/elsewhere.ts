// What goes on in the conversations that are not open: news, and questions that wait for an answer.
import { effect, signal } from '@preact/signals';
import { agents } from './agents';
import { selected } from './address';
import { onFresh, rpc } from './connection';
import { keep } from './permissions';
import type { Channel } from './rpc_types';

// Agents whose direct conversation has an answer in it that was not looked at.
export const unread = signal<ReadonlySet<string>>(new Set());

// Channel to agent.
let directs = new Map<string, string>();

function heard(channels: readonly Channel[]): void {
  directs = new Map(channels.filter(({ direct }) => direct !== '').map(({ id, direct }) => [id, direct]));
}

rpc.on('channels:changed', ({ channels }) => heard(channels));

rpc.on('message:updated', ({ channel, message }) => {
  const agent = directs.get(channel);
  if (agent === undefined || message.role === 'user' || !message.done) return;
  if (agent === selected.peek() || unread.peek().has(agent)) return;
  unread.value = new Set([...unread.peek(), agent]);
});

effect(() => {
  const agent = selected.value;
  if (agent === null || !unread.peek().has(agent)) return;
  unread.value = new Set([...unread.peek()].filter((name) => name !== agent));
});

// Questions that were asked before this page was there, or while it was cut off, are in their conversations alone. Only
// a busy agent has any.
async function lookForQuestions(channels: readonly Channel[]): Promise<void> {
  const busy = new Set(agents.peek()?.filter(({ state }) => state === 'busy').map(({ name }) => name));
  const others = channels.filter(({ direct }) => direct !== '' && direct !== selected.peek());
  for (const { id, direct } of others) if (!busy.has(direct)) keep(id, []);
  for (const { id, direct } of others) {
    if (!busy.has(direct)) continue;
    const { permissions } = await rpc.call('ChannelService.Conversation', id);
    keep(id, permissions);
  }
}

onFresh(() => {
  rpc.call('ChannelService.List').then(
    (channels) => {
      heard(channels);
      lookForQuestions(channels).catch(() => {});
    },
    () => {},
  );
});
