// What the supervisor said of its agents and of its configuration, and what may be asked of them.
import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { languages, language } from '../shared/language';
import { theme, themes } from '../shared/theme';
import { selected, select } from './address';
import { onFresh, rpc } from './connection';
import { why } from './faults';
import { tell } from './outcome';
import type { Agent, Command, Current } from './rpc_types';

const kLinesKept = 200;

// Null until the first answer.
export const agents = signal<readonly Agent[] | null>(null);
export const config = signal<Current | null>(null);

export const current: ReadonlySignal<Agent | null> = computed(() => agents.value?.find(({ name }) => name === selected.value) ?? null);

export function titleOf({ title, name }: { title: string; name: string }): string {
  return title || name;
}

export function titleFor(name: string): string {
  const found = agents.value?.find((agent) => agent.name === name);
  return found ? titleOf(found) : name;
}

export interface Log {
  // True as soon as the supervisor said what was there before.
  loaded: boolean;
  lines: readonly { key: number; text: string }[];
}

const logs = new Map<string, Signal<Log>>();
const commands = new Map<string, Signal<readonly Command[]>>();
let nextKey = 1;

export function logOf(name: string): Signal<Log> {
  return found(logs, name, () => signal<Log>({ loaded: false, lines: [] }));
}

export function commandsOf(name: string): Signal<readonly Command[]> {
  return found(commands, name, () => signal<readonly Command[]>([]));
}

function found<T>(all: Map<string, T>, name: string, make: () => T): T {
  const there = all.get(name);
  if (there) return there;
  const made = make();
  all.set(name, made);
  return made;
}

// A hundred lines between two pictures cost one picture.
const fresh = new Map<string, string[]>();

function flush(): void {
  for (const [name, texts] of fresh) {
    const log = logOf(name);
    const lines = [...log.peek().lines, ...texts.slice(-kLinesKept).map((text) => ({ key: nextKey++, text }))];
    log.value = { ...log.peek(), lines: lines.slice(-kLinesKept) };
  }
  fresh.clear();
}

rpc.on('agent:log', ({ agent, line }) => {
  if (fresh.size === 0) requestAnimationFrame(flush);
  const texts = found(fresh, agent, () => []);
  texts.push(line);
  // No picture is drawn of a page in the background, for hours maybe.
  if (texts.length > 2 * kLinesKept) texts.splice(0, texts.length - kLinesKept);
});

rpc.on('agent:state', ({ agent, state, error, outdated }) => {
  const before = agents.peek();
  if (!before) return;
  if (!before.some(({ name }) => name === agent)) return loadAgents();
  agents.value = before.map((known) => (known.name === agent ? { ...known, state, error: error ?? '', outdated } : known));
});

rpc.on('commands:changed', ({ agent, commands: announced }) => {
  commandsOf(agent).value = announced;
});

function loadAgents(): void {
  rpc.call('AgentService.List').then(
    (list) => {
      agents.value = list;
      // With one agent there is nothing to choose.
      const [only] = list;
      if (only && list.length === 1 && selected.peek() === null) select(only.name, { replace: true });
    },
    () => {},
  );
}

function loadConfig(): void {
  rpc.call('ConfigService.Current').then(
    (said) => {
      config.value = said;
      const wanted = languages.find((tag) => tag === said.language);
      if (wanted) language.suggest(wanted);
      const look = themes.find((name) => name === said.theme);
      if (look) theme.suggest(look);
    },
    () => {},
  );
}

// What is beside the conversation. A failure leaves the panel as it is: the connection's loss is told elsewhere.
export function loadAbout(name: string): void {
  rpc.call('AgentService.Logs', name).then(
    (texts) => {
      fresh.delete(name);
      logOf(name).value = { loaded: true, lines: texts.slice(-kLinesKept).map((text) => ({ key: nextKey++, text })) };
    },
    () => {},
  );
  rpc.call('ChannelService.Commands', name).then(
    (announced) => {
      commandsOf(name).value = announced;
    },
    () => {},
  );
}

onFresh(() => {
  loadAgents();
  loadConfig();
});

export function canStart({ state }: Agent): boolean {
  return state === 'stopped' || state === 'error';
}

export type Wish = 'Start' | 'Stop' | 'Restart';

export async function ask(wish: Wish, name: string): Promise<void> {
  const title = titleFor(name);
  tell((w) => w.asked[wish].sent(title));
  try {
    await rpc.call(`AgentService.${wish}`, name);
    tell((w) => w.asked[wish].done(title));
  } catch (error) {
    tell((w) => w.asked[wish].failed(title, why(w, error)), true);
  }
}
