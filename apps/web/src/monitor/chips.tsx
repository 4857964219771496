import { Mark, type MarkName } from '../shared/marks';
import type { State } from './protocol';
import { runStateWord, stateWord, words } from './words';

const marks: Record<State, MarkName> = {
  running: 'play',
  'not-answering': 'warning',
  silent: 'halfRing',
  unidentified: 'diamond',
  waiting: 'clock',
  stopped: 'square',
  unseen: 'ring',
};

export function stateMark(state: string): MarkName {
  return Object.hasOwn(marks, state) ? marks[state as State] : 'dot';
}

export function StateChip({ state }: { state: string }) {
  return (
    <span class="chip" data-state={state}>
      <Mark of={stateMark(state)} />
      <span class="chip-word">{stateWord(words.value, state)}</span>
    </span>
  );
}

const runMarks = new Map<string, MarkName>([
  ['running', 'play'],
  ['ok', 'tick'],
  ['failed', 'cross'],
  ['waiting', 'clock'],
]);

export function RunChip({ state }: { state: string }) {
  return (
    <span class="chip" data-run={state}>
      <Mark of={runMarks.get(state) ?? 'dot'} />
      <span class="chip-word">{runStateWord(words.value, state)}</span>
    </span>
  );
}
