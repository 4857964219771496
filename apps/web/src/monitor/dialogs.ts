import { signal } from '@preact/signals';
import type { Entry } from './agent_list';

// The one dialog that is open over the board, if any. `entry` is null for a new one.
export type Open = { kind: 'help' } | { kind: 'entry'; entry: Entry | null };

export const dialog = signal<Open | null>(null);
