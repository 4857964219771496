import { effect, signal, type Signal } from '@preact/signals';

// What stands until the user of this browser chooses, said by somebody who may know better than the page does.
export interface Preference<T extends string> extends Signal<T> {
  suggest(value: T): void;
}

// A choice of this browser's user, kept in localStorage. Where storage is refused (a private window, a policy)
// the choice lasts as long as the page. `parse` answers null for anything that is not a choice any more.
export function preference<T extends string>(key: string, otherwise: T, parse: (text: string) => T | null): Preference<T> {
  let first = otherwise;
  let chosen = false;
  try {
    const kept = parse(localStorage.getItem(key) ?? '');
    if (kept !== null) {
      first = kept;
      chosen = true;
    }
  } catch {
    // Storage is refused: the default stands.
  }
  const choice = signal(first);
  let quiet = true;
  effect(() => {
    const value = choice.value;
    if (quiet) return;
    chosen = true;
    try {
      localStorage.setItem(key, value);
    } catch {
      // As above.
    }
  });
  quiet = false;
  const suggest = (value: T) => {
    if (chosen) return;
    quiet = true;
    choice.value = value;
    quiet = false;
  };
  return Object.assign(choice, { suggest });
}

export function oneOf<T extends string>(...choices: readonly T[]): (text: string) => T | null {
  return (text) => choices.find((choice) => choice === text) ?? null;
}
