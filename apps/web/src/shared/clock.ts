import { computed, signal } from '@preact/signals';

const local = signal(Date.now());
const ahead = signal(0);

// The monitor's time, to the second: ages are told by the clock that stamped them, not by this machine's.
export const now = computed(() => local.value + ahead.value);

setInterval(() => {
  if (!document.hidden) local.value = Date.now();
}, 1000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) local.value = Date.now();
});

export function heardTime(iso: string): void {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return;
  const difference = at - Date.now();
  // A frame's way here is not a difference between clocks.
  if (Math.abs(difference - ahead.peek()) > 1000) ahead.value = Math.abs(difference) > 1000 ? difference : 0;
}
