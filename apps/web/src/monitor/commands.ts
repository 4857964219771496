// The socket to the monitor, what is asked over it, and the one line that says in words what came of it.
import { signal } from '@preact/signals';
import { LiveSocket } from '../shared/live_socket';
import { applyBoard, applyLog, applyRows, applyRun, rows } from './fleet';
import type { DidFrame, Frame } from './protocol';
import type { Words } from './words';

// Told as a function of the dictionary, so that a change of language changes the line as well.
export const outcome = signal<{ say(w: Words): string; bad: boolean } | null>(null);

// What comes back takes the word back, unless another has come since.
export function tell(say: (w: Words) => string, bad = false): () => void {
  const said = { say, bad };
  outcome.value = said;
  return () => {
    if (outcome.peek() === said) outcome.value = null;
  };
}

type Command = 'run' | 'terminate';

const kPatienceMs = 20_000;
const asked = new Map<string, { of: Command; name: string; timer: number }>();
let nextAsk = 1;

const socket = new LiveSocket('dashboard', {
  opened: (send) => send({ type: 'watch', capabilities: ['rows'] }),
  received: (frame) => receive(frame as Frame),
});

export const connection = socket.connection;

connection.subscribe((state) => {
  if (state === 'live' || asked.size === 0) return;
  const names = [...asked.values()].map(({ name }) => name);
  for (const { timer } of asked.values()) clearTimeout(timer);
  asked.clear();
  tell((w) => w.cutOff(names), true);
});

export function connect(): void {
  socket.dial();
}

function receive(frame: Frame): void {
  switch (frame.type) {
    case 'board':
      return applyBoard(frame);
    case 'rows':
      return applyRows(frame);
    case 'run':
      return applyRun(frame);
    case 'log':
      return applyLog(frame);
    case 'did':
      return did(frame);
    case 'signIn':
      return socket.refuse();
  }
}

export function ask(of: Command, id: string): void {
  const name = rows.get(id)?.name ?? id;
  const number = String(nextAsk++);
  if (!socket.send({ type: of, id, ask: number })) {
    tell((w) => w.notConnected, true);
    return;
  }
  const timer = window.setTimeout(() => {
    asked.delete(number);
    tell((w) => w.asked[of].failed(name, w.noAnswer), true);
  }, kPatienceMs);
  asked.set(number, { of, name, timer });
  tell((w) => w.asked[of].sent(name));
}

function did(frame: DidFrame): void {
  const question = frame.ask === null ? undefined : asked.get(frame.ask);
  if (!question || frame.ask === null) return;
  asked.delete(frame.ask);
  clearTimeout(question.timer);
  const { of, name } = question;
  if (frame.ok) tell((w) => w.asked[of].done(name));
  else tell((w) => w.asked[of].failed(name, refusal(w, frame)), true);
}

// In the page's language where the code is known, else in the monitor's own sentence.
function refusal(w: Words, { code, args, error }: DidFrame): string {
  const arg = (name: string) => {
    const value = args && Object.hasOwn(args, name) ? args[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  switch (code) {
    case 'no-runner':
      return arg('host') ? w.noRunner(arg('host')) : w.noRunnerAnywhere;
    case 'no-folder':
      return w.noFolder;
    case 'unknown-agent':
      return w.unknownAgent;
    case 'already-running':
      return w.alreadyRunning;
    case 'not-connected':
      return w.agentNotConnected;
    case 'no-answer':
      return w.noAnswer;
    case 'no-such-command':
      return w.noSuchCommand;
    default:
      return error ?? w.unexplained;
  }
}

