import type { Refusal } from './agent_list';
import type { Words } from './words';

export function whyRefused(w: Words, { status, error }: Refusal): string {
  if (status === 0) return w.unreachable;
  return error ?? w.refusedWith(status);
}
