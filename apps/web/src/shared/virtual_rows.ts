import { useLayoutEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

export interface Window {
  first: number;
  // One past the last.
  end: number;
}

const kSpare = 8;

function scrolls(element: Element): boolean {
  const { overflowY } = getComputedStyle(element);
  return overflowY === 'auto' || overflowY === 'scroll';
}

// Which rows of `list` (a box as high as all of them) are in sight, with some to spare. `scroller` is the box that
// scrolls, or, where the style sheet lets the whole page scroll, merely an ancestor: both are seen through the
// rectangles alone.
export function useVirtualRows(
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): Window {
  const [seen, setSeen] = useState<Window>({ first: 0, end: 40 });
  useLayoutEffect(() => {
    const box = scroller.current;
    const rows = list.current;
    if (!box || !rows) return;
    const measure = () => {
      const outer = box.getBoundingClientRect();
      const top = rows.getBoundingClientRect().top;
      const from = Math.max(scrolls(box) ? outer.top : 0, 0) - top;
      const to = Math.min(scrolls(box) ? outer.bottom : innerHeight, innerHeight) - top;
      const first = Math.min(Math.max(0, Math.floor(from / rowHeight) - kSpare), Math.max(0, count - 1));
      const end = Math.min(count, Math.max(first, Math.ceil(to / rowHeight)) + kSpare);
      setSeen((was) => (was.first === first && was.end === end ? was : { first, end }));
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(box);
    // Captured, for the box and the page alike.
    addEventListener('scroll', measure, { capture: true, passive: true });
    addEventListener('resize', measure);
    return () => {
      resized.disconnect();
      removeEventListener('scroll', measure, { capture: true });
      removeEventListener('resize', measure);
    };
  }, [scroller, list, count, rowHeight]);
  return { first: Math.min(seen.first, Math.max(0, count - 1)), end: Math.min(seen.end, count) };
}

// Brings row `index` into sight with the least movement, clear of what is stuck to the top (`covered` pixels).
export function revealRow(box: HTMLElement, rows: HTMLElement, index: number, rowHeight: number, covered: number): void {
  const inside = scrolls(box);
  const top = inside ? box.getBoundingClientRect().top : 0;
  const bottom = inside ? box.getBoundingClientRect().bottom : innerHeight;
  const rowTop = rows.getBoundingClientRect().top + index * rowHeight;
  let by = 0;
  if (rowTop < top + covered) by = rowTop - top - covered;
  else if (rowTop + rowHeight > bottom) by = rowTop + rowHeight - bottom;
  if (by !== 0) (inside ? box : document.documentElement).scrollBy({ top: by, behavior: 'instant' });
}
