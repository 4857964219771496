import { effect, signal, type Signal } from '@preact/signals';

// A choice of this browser's user, kept in localStorage. Where storage is refused (a private window, a policy)
// the choice lasts as long as the page. `parse` answers null for anything that is not a choice any more.
export function preference<T extends string>(key: string, otherwise: T, parse: (text: string) => T | null): Signal<T> {
  let first = otherwise;
  try {
    const kept = localStorage.getItem(key);
    if (kept !== null) first = parse(kept) ?? otherwise;
  } catch {
    // Storage is refused: the default stands.
  }
  const choice = signal(first);
  let fresh = true;
  effect(() => {
    const value = choice.value;
    if (fresh) {
      fresh = false;
      return;
    }
    try {
      localStorage.setItem(key, value);
    } catch {
      // As above.
    }
  });
  return choice;
}

export function oneOf<T extends string>(...choices: readonly T[]): (text: string) => T | null {
  return (text) => choices.find((choice) => choice === text) ?? null;
}
