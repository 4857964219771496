import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

export interface Foot {
  show(): void;
  // What a scroll says: true at the foot (give or take `nearPx`), false when the reader went up, null when it is neither.
  // New lines may come between a scroll and the word of it, so that being above the foot alone says nothing.
  scrolled(): boolean | null;
}

export function useFoot(box: RefObject<HTMLElement | null>, nearPx: number): Foot {
  const lastTop = useRef(0);
  return useMemo(
    () => ({
      show: () => {
        const at = box.current;
        if (!at) return;
        at.scrollTop = at.scrollHeight;
        lastTop.current = at.scrollTop;
      },
      scrolled: () => {
        const at = box.current;
        if (!at) return null;
        const up = at.scrollTop < lastTop.current;
        lastTop.current = at.scrollTop;
        if (at.scrollHeight - at.scrollTop - at.clientHeight <= nearPx) return true;
        return up ? false : null;
      },
    }),
    [box, nearPx],
  );
}

const kNearPx = 8;

interface Line {
  // Grows from line to line.
  readonly key: number;
}

export interface Following<L extends Line> {
  box: RefObject<HTMLDivElement | null>;
  shown: readonly L[];
  held: boolean;
  // How many lines came since they were held.
  waiting: number;
  onScroll(): void;
  toNewest(): void;
}

// Lines in a box that scrolls, newest at the foot. Scrolled up, they stand still and new ones are counted instead.
export function useFollowing<L extends Line>(live: readonly L[]): Following<L> {
  const box = useRef<HTMLDivElement>(null);
  const foot = useFoot(box, kNearPx);
  const [held, setHeld] = useState<readonly L[] | null>(null);
  const shown = held ?? live;
  const newest = shown.at(-1)?.key ?? 0;

  useLayoutEffect(() => {
    if (!held) foot.show();
  }, [newest, held]);

  // A box that gets lower, because something appeared above it, still shows its foot.
  useEffect(() => {
    const at = box.current;
    if (!at || held) return;
    const resized = new ResizeObserver(foot.show);
    resized.observe(at);
    return () => resized.disconnect();
  }, [held]);

  return {
    box,
    shown,
    held: held !== null,
    waiting: held ? live.filter(({ key }) => key > newest).length : 0,
    onScroll: () => {
      const at = foot.scrolled();
      if (at === true) setHeld(null);
      // A copy: the list itself may go on.
      else if (at === false && !held) setHeld([...live]);
    },
    toNewest: () => setHeld(null),
  };
}
