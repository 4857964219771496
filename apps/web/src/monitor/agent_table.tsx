import { useSignalEffect } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Mark } from '../shared/marks';
import { media } from '../shared/media';
import { revealRow, useVirtualRows } from '../shared/virtual_rows';
import { AgentRow } from './agent_row';
import { revision, rows } from './fleet';
import { columns, held, order, selected, shownIds, sortBy } from './view';
import { words } from './words';

// As in style.css: one line a row where there is room, two where there is not.
const kRowHeight = 34;
const kTallRowHeight = 68;

const narrow = media('(max-width: 899px)');

// Set by the table for the keys that work from anywhere on the page.
export let moveTo: (step: number) => void = () => {};

export function AgentTable() {
  const w = words.value;
  revision.value;
  const ids = shownIds.value;
  const height = narrow.value ? kTallRowHeight : kRowHeight;
  const box = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const seen = useVirtualRows(box, list, ids.length, height);
  const [currentId, setCurrentId] = useState<string | null>(selected.peek());
  const wish = useRef<{ id: string; control: number } | null>(null);

  const place = currentId === null ? -1 : ids.indexOf(currentId);
  const current = place < 0 ? (ids.length > 0 ? Math.min(seen.first, ids.length - 1) : -1) : place;

  // The focus goes to a row once it is drawn, which is after it has been brought into sight.
  useEffect(() => {
    if (!wish.current || !list.current) return;
    const { id, control } = wish.current;
    const index = ids.indexOf(id);
    const row = list.current.querySelector(`[data-index="${index}"]`);
    if (!row) return;
    wish.current = null;
    const controls = row.querySelectorAll<HTMLElement>('button');
    (controls[control] ?? controls[0])?.focus({ preventScroll: true });
  });

  const go = useCallback((index: number, control = 0) => {
    const now = shownIds.peek();
    const id = now[Math.max(0, Math.min(index, now.length - 1))];
    if (id === undefined || !box.current || !list.current) return;
    const covered = head.current?.offsetHeight ?? 0;
    revealRow(box.current, list.current, now.indexOf(id), list.current.clientHeight / Math.max(1, now.length), covered);
    wish.current = { id, control };
    setCurrentId(id);
    // Where it was current already, nothing is drawn again by itself.
    revision.value++;
  }, []);

  useEffect(() => {
    moveTo = (step) => {
      const inside = list.current?.contains(document.activeElement) ?? false;
      go(inside ? current + step : current);
    };
  });

  // A selection that came with the address is brought into sight once its row is there.
  const shownOnce = useRef(false);
  useSignalEffect(() => {
    const id = selected.value;
    const index = id === null ? -1 : shownIds.value.indexOf(id);
    if (shownOnce.current || index < 0) return;
    shownOnce.current = true;
    setCurrentId(id);
    setTimeout(() => {
      if (box.current && list.current) revealRow(box.current, list.current, index, height, head.current?.offsetHeight ?? 0);
    });
  });

  const hold = () => {
    const rowsBox = list.current;
    held.value = !!rowsBox && (rowsBox.matches(':hover') || rowsBox.contains(document.activeElement));
  };

  const pressed = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>('[data-index]');
    if (!row) return;
    const controls = [...row.querySelectorAll<HTMLElement>('button')];
    const control = controls.indexOf(target);
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? innerHeight) / height) - 2);
    const steps: Record<string, () => void> = {
      ArrowDown: () => go(current + 1, control),
      ArrowUp: () => go(current - 1, control),
      PageDown: () => go(current + page, control),
      PageUp: () => go(current - page, control),
      Home: () => go(0, control),
      End: () => go(ids.length - 1, control),
      ArrowRight: () => controls[control + 1]?.focus(),
      ArrowLeft: () => controls[control - 1]?.focus(),
    };
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    steps[event.key]?.();
  };

  const drawn: number[] = [];
  for (let index = seen.first; index < seen.end; index++) drawn.push(index);
  // The current row stays in the page wherever it was scrolled to: taking it out would drop the focus.
  if (current >= 0 && current < seen.first) drawn.unshift(current);
  if (current >= seen.end) drawn.push(current);

  return (
    <div
      ref={box}
      class="table"
      role="grid"
      id="agents"
      tabIndex={-1}
      aria-label={w.table}
      aria-rowcount={ids.length + 1}
      aria-colcount={columns.length + 1}
    >
      <div role="rowgroup" class="head" ref={head}>
        <div role="row" class="head-row" aria-rowindex={1}>
          {columns.map((column) => {
            const sorted = order.value.column === column;
            const { descending } = order.value;
            return (
              <div
                key={column}
                role="columnheader"
                class={`c-${column}`}
                aria-sort={sorted ? (descending ? 'descending' : 'ascending') : 'none'}
              >
                <button type="button" class="sort" onClick={() => sortBy(column)}>
                  <span>{w.columns[column]}</span>
                  {sorted && <Mark of={descending ? 'down' : 'up'} />}
                </button>
              </div>
            );
          })}
          <div role="columnheader" class="c-actions">
            <span>{w.columns.actions}</span>
          </div>
        </div>
      </div>
      <div
        role="rowgroup"
        class="rows"
        ref={list}
        style={{ height: `${ids.length * height}px` }}
        onPointerEnter={hold}
        onPointerLeave={hold}
        onFocusIn={(event) => {
          const index = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset['index'];
          const id = index === undefined ? undefined : ids[Number(index)];
          if (id !== undefined) setCurrentId(id);
          hold();
        }}
        onFocusOut={() => setTimeout(hold)}
        onKeyDown={pressed}
      >
        {drawn.map((index) => {
          const row = rows.get(ids[index] ?? '');
          return row && <AgentRow key={row.id} row={row} index={index} height={height} current={index === current} open={row.id === selected.value} words={w} />;
        })}
      </div>
      {ids.length === 0 && <p class="nothing">{w.nothingMatches}</p>}
    </div>
  );
}
