// Which agent is shown stands in the address, so that a reload, a bookmark and the back button all work.
import { signal, type ReadonlySignal } from '@preact/signals';

function read(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('agent') || null;
}

const chosen = signal<string | null>(read());

export const selected: ReadonlySignal<string | null> = chosen;

export function hrefOf(agent: string): string {
  return `#${new URLSearchParams({ agent })}`;
}

// `replace` leaves no entry behind for the back button.
export function select(agent: string, { replace = false } = {}): void {
  if (agent === chosen.peek()) return;
  if (replace) history.replaceState(null, '', hrefOf(agent));
  else location.hash = hrefOf(agent);
  chosen.value = agent;
}

addEventListener('hashchange', () => (chosen.value = read()));
