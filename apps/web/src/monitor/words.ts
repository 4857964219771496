import { dictionary } from '../shared/language';
import type { State } from './protocol';
import { english } from './words_en';
import { french } from './words_fr';

export type Words = typeof english;

export const words = dictionary<Words>({ en: english, fr: french });

// A word of a later monitor is shown as it came. Looked up as an own key: "constructor" is not a state.
export function stateWord(w: Words, state: string): string {
  return Object.hasOwn(w.states, state) ? w.states[state as State] : state;
}

export function runStateWord(w: Words, state: string): string {
  return Object.hasOwn(w.runStates, state) ? w.runStates[state as keyof Words['runStates']] : state;
}

export function starterWord(w: Words, starter: string): string {
  return Object.hasOwn(w.startedBy, starter) ? w.startedBy[starter as keyof Words['startedBy']] : starter;
}
