import type { Connection } from './live_socket';
import { Mark } from './marks';

// The word on the connection, said again when it changes.
export function Pill({ state, names }: { state: Connection; names: Record<Connection, string> }) {
  return (
    <span class="pill" role="status" data-connection={state}>
      <Mark of={state === 'live' ? 'dot' : state === 'refused' ? 'square' : 'halfRing'} />
      {names[state]}
    </span>
  );
}
