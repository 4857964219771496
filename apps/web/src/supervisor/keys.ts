import { signal } from '@preact/signals';
import { oneOf, preference } from '../shared/preference';

// Single letters may be switched off: speech input and other tools press them unmeant (WCAG 2.1.4).
export const letters = preference<'on' | 'off'>('watchbill.letters', 'on', oneOf('on', 'off'));

export interface Ways {
  move(step: number): void;
  toComposer(): void;
  toQuestion(): void;
  help(): void;
}

export const ways = signal<Ways | null>(null);

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}

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
