// Marks that are told apart by their outline alone. Each stands beside its word, so none needs a name of its own.
const outlines = {
  play: 'M4 2.5v11l9.5-5.5z',
  warning: 'M8 1.5 15.2 14H.8zM7.2 6v4h1.6V6zm0 5v1.6h1.6V11z',
  halfRing: 'M8 1.5a6.5 6.5 0 0 1 0 13zM8 1.5v2a4.5 4.5 0 0 0 0 9v2a6.5 6.5 0 0 1 0-13z',
  diamond: 'M8 .8 15.2 8 8 15.2.8 8zM8 3.6 3.6 8 8 12.4 12.4 8z',
  clock: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zm0 1.8a4.7 4.7 0 1 0 0 9.4 4.7 4.7 0 0 0 0-9.4zM7.2 4.6h1.6v3l2.2 1.5-.9 1.3-2.9-2z',
  square: 'M3 3h10v10H3z',
  ring: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 1.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4z',
  tick: 'M13.7 3.6 6.4 11.9 2.3 8.2l1.2-1.4 2.8 2.5 6-6.9z',
  cross: 'm3.6 2.3 4.4 4.4 4.4-4.4 1.3 1.3L9.3 8l4.4 4.4-1.3 1.3L8 9.3l-4.4 4.4-1.3-1.3L6.7 8 2.3 3.6z',
  dot: 'M8 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8z',
  up: 'M8 3.5 14 11H2z',
  down: 'M8 12.5 2 5h12z',
} as const;

export type MarkName = keyof typeof outlines;

export function Mark({ of }: { of: MarkName }) {
  return (
    <svg class="mark" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true" focusable="false">
      <path d={outlines[of]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  );
}
