import { signal, type ReadonlySignal } from '@preact/signals';

// Whether a media query holds, as it changes.
export function media(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query);
  const holds = signal(list.matches);
  list.addEventListener('change', () => (holds.value = list.matches));
  return holds;
}
