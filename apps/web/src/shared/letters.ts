import { oneOf, preference } from './preference';

// Single letters may be switched off: speech input and other tools press them unmeant (WCAG 2.1.4).
export const letters = preference<'on' | 'off'>('watchbill.letters', 'on', oneOf('on', 'off'));

// Where a letter is a letter.
export function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}
