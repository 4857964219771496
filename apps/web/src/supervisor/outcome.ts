// The one line that says in words what came of what was asked, and what is said to screen readers beside it.
import { signal } from '@preact/signals';
import type { Words } from './words';

// Told as a function of the dictionary, so that a change of language changes the line as well.
export const outcome = signal<{ say(w: Words): string; bad: boolean } | null>(null);

const kGoodNewsMs = 10_000;

// What went well is not news for long; what went wrong stays until it is dismissed, or something else is told.
export function tell(say: (w: Words) => string, bad = false): void {
  const said = { say, bad };
  outcome.value = said;
  if (bad) return;
  setTimeout(() => {
    if (outcome.peek() === said) outcome.value = null;
  }, kGoodNewsMs);
}

// Said once and shown nowhere: the page has one polite live region, and this is what stands in it.
export const announcement = signal<(w: Words) => string>(() => '');

export function announce(say: (w: Words) => string): void {
  announcement.value = say;
}
