import { signal } from '@preact/signals';
import { letters, typing } from '../shared/letters';

export interface Ways {
  move(step: number): void;
  toComposer(): void;
  toQuestion(): void;
  help(): void;
}

export const ways = signal<Ways | null>(null);

document.addEventListener('keydown', (event) => {
  const to = ways.peek();
  if (!to || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  // An open dialog has the keys to itself.
  if (document.querySelector('dialog[open]')) return;
  if (typing(event.target) || letters.peek() === 'off') return;
  const taken: Record<string, () => void> = {
    j: () => to.move(1),
    k: () => to.move(-1),
    c: () => to.toComposer(),
    p: () => to.toQuestion(),
    '?': () => to.help(),
  };
  if (!Object.hasOwn(taken, event.key)) return;
  event.preventDefault();
  taken[event.key]?.();
});
