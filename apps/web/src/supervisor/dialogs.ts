import { signal } from '@preact/signals';

// The one dialog or drawer that is open, if any.
export const dialog = signal<'help' | 'agents' | 'about' | null>(null);
