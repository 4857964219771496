// The conversation that is open. Frames change `kept` at once; the page is told once in an animation frame, so that a
// hundred words between two pictures cost one picture, and a message that did not change is not drawn again.
import { batch, effect, signal, type Signal } from '@preact/signals';
import { agents, loadAbout } from './agents';
import { selected } from './address';
import { onFresh, rpc } from './connection';
import { keep } from './permissions';
import { CallError } from './rpc';
import type { Conversation, Events, Message, Usage } from './rpc_types';

export interface Entry {
  id: string;
  message: Signal<Message>;
}

export interface Turn {
  busy: boolean;
  queued: number;
  answering: string;
}

type Phase = { is: 'none' } | { is: 'loading' } | { is: 'ready' } | { is: 'failed'; error: unknown };

const kQuiet: Turn = { busy: false, queued: 0, answering: '' };

export const phase = signal<Phase>({ is: 'none' });
// Whose it is, and its channel's id; "" until that is known.
export const talkingTo = signal('');
export const channelId = signal('');
export const entries = signal<readonly Entry[]>([]);
export const more = signal(false);
export const turn = signal<Turn>(kQuiet);
export const usage = signal<Readonly<Record<string, Usage>>>({});

const kept = new Map<string, Message>();
const changed = new Set<string>();
// Messages that a reload did not bring: asking again would bring them no more.
const sought = new Set<string>();
let scheduled = false;
let loading = false;
let stale = false;

type Finished = (message: Message) => void;
const finishers: Finished[] = [];

// Hears of every message that ends while it is looked at.
export function onFinished(heard: Finished): void {
  finishers.push(heard);
}

function schedule(id: string): void {
  changed.add(id);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(flush);
}

function flush(): void {
  scheduled = false;
  batch(() => {
    const known = new Map(entries.peek().map((entry) => [entry.id, entry]));
    const added: Entry[] = [];
    for (const id of changed) {
      const message = kept.get(id);
      if (!message) continue;
      const entry = known.get(id);
      // A copy: what is kept goes on being written to.
      if (entry) entry.message.value = { ...message, parts: [...message.parts] };
      else added.push({ id, message: signal({ ...message, parts: [...message.parts] }) });
    }
    changed.clear();
    // Ids sort by age.
    if (added.length > 0) entries.value = [...entries.peek(), ...added].sort((a, b) => (a.id < b.id ? -1 : 1));
  });
}

function put(message: Message): void {
  kept.set(message.id, { ...message, parts: [...message.parts] });
  schedule(message.id);
}

function clear(): void {
  kept.clear();
  changed.clear();
  sought.clear();
  batch(() => {
    entries.value = [];
    more.value = false;
    turn.value = kQuiet;
    usage.value = {};
    channelId.value = '';
  });
}

function take(said: Conversation): void {
  const first = said.messages[0];
  // Older pages stay where what came joins on to them.
  const joins = first !== undefined && kept.has(first.id);
  const from = joins ? first.id : null;
  const hadMore = more.peek();
  for (const id of [...kept.keys()]) if (from === null || id >= from) kept.delete(id);
  const joined = kept.size > 0;
  for (const message of said.messages) kept.set(message.id, { ...message, parts: [...message.parts] });
  changed.clear();
  batch(() => {
    const before = new Map(entries.peek().map((entry) => [entry.id, entry]));
    entries.value = [...kept.values()]
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((message) => {
        const copy = { ...message, parts: [...message.parts] };
        const entry = before.get(message.id);
        if (!entry) return { id: message.id, message: signal(copy) };
        entry.message.value = copy;
        return entry;
      });
    more.value = joined ? hadMore : said.more;
    turn.value = { busy: said.busy, queued: said.queued, answering: said.answering };
    usage.value = said.usage;
    keep(said.channel.id, said.permissions);
    phase.value = { is: 'ready' };
  });
}

async function load(): Promise<void> {
  const agent = talkingTo.peek();
  if (agent === '') return;
  // One at a time; what is asked meanwhile is asked once more afterwards.
  if (loading) {
    stale = true;
    return;
  }
  loading = true;
  try {
    const { id } = await rpc.call('ChannelService.Direct', agent);
    if (talkingTo.peek() === agent) {
      channelId.value = id;
      const said = await rpc.call('ChannelService.Conversation', id);
      if (talkingTo.peek() === agent) take(said);
    }
  } catch (error) {
    // A lost connection is told elsewhere, and what is shown stays.
    const lost = error instanceof CallError && error.code === 'disconnected';
    if (talkingTo.peek() === agent && !lost) phase.value = { is: 'failed', error };
  }
  loading = false;
  if (stale) {
    stale = false;
    void load();
  }
}

export function reload(): void {
  void load();
}

effect(() => {
  const agent = selected.value ?? '';
  if (agent === talkingTo.peek()) return;
  clear();
  talkingTo.value = agent;
  phase.value = agent === '' ? { is: 'none' } : { is: 'loading' };
  if (agent === '') return;
  // Without a connection this comes to nothing, and is done as soon as there is one.
  loadAbout(agent);
  void load();
});

onFresh(() => {
  sought.clear();
  const agent = talkingTo.peek();
  if (agent === '') return;
  loadAbout(agent);
  void load();
});

// An agent that the supervisor does not know is not asked about: the list says whether it is there.
export function unknownAgent(): boolean {
  return talkingTo.value !== '' && agents.value !== null && !agents.value.some(({ name }) => name === talkingTo.value);
}

function here(channel: string): boolean {
  return phase.peek().is === 'ready' && channel === channelId.peek();
}

rpc.on('message:updated', ({ channel, message }) => {
  if (!here(channel)) return;
  const before = kept.get(message.id);
  put(message);
  if (message.role === 'agent' && message.done && !(before?.done ?? false)) for (const heard of finishers) heard(message);
});

rpc.on('message:delta', (delta) => {
  if (here(delta.channel) && !apply(delta)) seek(delta.messageId);
});

// False when it does not fit what is here: something was missed.
function apply({ messageId, index, kind, text, part }: Events['message:delta']): boolean {
  const message = kept.get(messageId);
  if (!message || index < 0 || index > message.parts.length) return false;
  const before = message.parts[index];
  if (part) {
    message.parts[index] = part;
  } else if (kind === 'text' || kind === 'thought') {
    if (before && before.kind !== kind) return false;
    const written = before && 'text' in before ? before.text : '';
    message.parts[index] = { kind, text: written + (text ?? '') };
  } else {
    return false;
  }
  schedule(messageId);
  return true;
}

function seek(messageId: string): void {
  if (sought.has(messageId)) return;
  sought.add(messageId);
  void load();
}

rpc.on('turn:changed', ({ channel, busy, queued, answering }) => {
  if (here(channel)) turn.value = { busy, queued, answering };
});

rpc.on('usage:changed', ({ channel, agent, usage: said }) => {
  if (here(channel)) usage.value = { ...usage.peek(), [agent]: said };
});

export async function loadOlder(): Promise<void> {
  const first = entries.peek()[0];
  const channel = channelId.peek();
  if (!first) return;
  const said = await rpc.call('ChannelService.Older', channel, first.id);
  if (channelId.peek() !== channel) return;
  for (const message of said.messages) if (!kept.has(message.id)) put(message);
  more.value = said.more;
}

export function send(text: string): Promise<string> {
  return rpc.call('ChannelService.Send', channelId.peek(), text);
}

export function cancel(): Promise<null> {
  return rpc.call('ChannelService.Cancel', channelId.peek());
}
