import { dictionary } from '../shared/language';
import { english } from './words_en';
import { french } from './words_fr';

export type Words = typeof english;

export const words = dictionary<Words>({ en: english, fr: french });

// A word that this page does not know is shown as it came. Looked up as an own key: "constructor" is not a state.
function known(all: Readonly<Record<string, string>>, key: string): string {
  return (Object.hasOwn(all, key) ? all[key] : undefined) ?? key;
}

export const agentStateWord = (w: Words, state: string) => known(w.states, state);
export const toolStatusWord = (w: Words, status: string) => known(w.statuses, status);
export const toolKindWord = (w: Words, kind: string) => known(w.toolKinds, kind);
export const optionKindWord = (w: Words, kind: string) => known(w.optionKinds, kind);

export function stopWord(w: Words, reason: string): string {
  return Object.hasOwn(w.stops, reason) ? known(w.stops, reason) : w.stoppedBecause(reason);
}

// "" where the code is none of those that have a sentence of their own.
export function systemWord(w: Words, code: string, agent: string): string {
  switch (code) {
    case 'agent-joined':
      return w.joined(agent);
    case 'agent-left':
      return w.left(agent);
    case 'no-recipient':
      return w.noRecipient;
    default:
      return '';
  }
}
