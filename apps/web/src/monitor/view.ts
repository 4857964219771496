// What of the fleet is shown, and in which order. All of it is kept in the address, so that a view can be sent on.
import { batch, computed, effect, signal } from '@preact/signals';
import { collator } from '../shared/format';
import { moved, rows } from './fleet';
import { states, type Row } from './protocol';

export const columns = ['state', 'name', 'machine', 'runs', 'last', 'tokens', 'rate', 'age'] as const;
export type Column = (typeof columns)[number];
export interface Order {
  column: Column;
  descending: boolean;
}

const kFirstOrder: Order = { column: 'name', descending: false };
// What a first press of a column's header means: figures begin with the largest, words with A.
const kLargestFirst: ReadonlySet<Column> = new Set<Column>(['runs', 'last', 'tokens', 'rate']);

export const text = signal('');
export const wanted = signal<ReadonlySet<string>>(new Set());
export const order = signal<Order>(kFirstOrder);
export const selected = signal<string | null>(null);

function readAddress(): void {
  const kept = new URLSearchParams(location.hash.slice(1));
  const sort = kept.get('sort') ?? '';
  const column = columns.find((name) => name === sort.replace(/^-/, ''));
  batch(() => {
    text.value = kept.get('q') ?? '';
    wanted.value = new Set((kept.get('state') ?? '').split(',').filter((state) => state !== ''));
    order.value = column ? { column, descending: sort.startsWith('-') } : kFirstOrder;
    selected.value = kept.get('agent');
  });
}

readAddress();
addEventListener('hashchange', readAddress);

effect(() => {
  const kept = new URLSearchParams();
  if (text.value !== '') kept.set('q', text.value);
  if (wanted.value.size > 0) kept.set('state', [...wanted.value].join(','));
  const { column, descending } = order.value;
  if (column !== kFirstOrder.column || descending) kept.set('sort', descending ? `-${column}` : column);
  if (selected.value !== null) kept.set('agent', selected.value);
  const hash = kept.toString();
  if (hash === location.hash.slice(1)) return;
  history.replaceState(null, '', hash === '' ? location.pathname + location.search : `#${hash}`);
});

export function toggleState(state: string): void {
  const next = new Set(wanted.value);
  if (!next.delete(state)) next.add(state);
  wanted.value = next;
}

export function clearFilters(): void {
  batch(() => {
    text.value = '';
    wanted.value = new Set();
  });
}

export function sortBy(column: Column): void {
  const now = order.value;
  order.value = { column, descending: now.column === column ? !now.descending : kLargestFirst.has(column) };
}

export const counts = computed(() => {
  moved.names.value;
  moved.places.value;
  const found = new Map<string, number>();
  for (const { state } of rows.values()) found.set(state, (found.get(state) ?? 0) + 1);
  return found;
});

function matcher(): (row: Row) => boolean {
  const needle = text.value.trim().toLowerCase();
  const these = wanted.value;
  return (row) => {
    if (these.size > 0 && !these.has(row.state)) return false;
    if (needle === '') return true;
    return (
      row.name.toLowerCase().includes(needle) ||
      (row.host ?? '').toLowerCase().includes(needle) ||
      (row.folder ?? '').toLowerCase().includes(needle)
    );
  };
}

// Words are compared once, when one of them moved; everything after that compares figures. Beginning with the order
// there was makes the sort nearly free when one name among many is new.
let lastByName: string[] = [];
const rankByName = computed(() => {
  moved.names.value;
  const words = collator.value;
  const known = new Set(lastByName);
  const ids = lastByName.filter((id) => rows.has(id));
  for (const id of rows.keys()) if (!known.has(id)) ids.push(id);
  const name = (id: string) => rows.get(id)?.name ?? '';
  ids.sort((a, b) => words.compare(name(a), name(b)) || (a < b ? -1 : 1));
  lastByName = ids;
  return new Map(ids.map((id, rank) => [id, rank]));
});

const rankByMachine = computed(() => {
  moved.names.value;
  moved.places.value;
  const hosts = new Set<string>();
  for (const { host } of rows.values()) if (host) hosts.add(host);
  return new Map([...hosts].sort(collator.value.compare).map((host, rank) => [host, rank]));
});

const rankByState = new Map<string, number>(states.map((state, index) => [state, index]));
const time = (iso: string | null | undefined) => {
  const at = iso ? Date.parse(iso) : NaN;
  return Number.isNaN(at) ? null : at;
};

// By what a column is sorted, as a figure; null for what nobody said. Reading it subscribes to what it looks at.
function figure(column: Column): (row: Row) => number | null {
  switch (column) {
    case 'state':
      moved.places.value;
      return (row) => rankByState.get(row.state) ?? states.length;
    case 'name': {
      const ranks = rankByName.value;
      return (row) => ranks.get(row.id) ?? null;
    }
    case 'machine': {
      const ranks = rankByMachine.value;
      return (row) => ranks.get(row.host ?? '') ?? null;
    }
    case 'runs':
      moved.runs.value;
      return (row) => (row.current ? row.current.running + row.current.waiting : 0);
    case 'last':
      moved.last.value;
      return (row) => time(row.lastRun?.at);
    case 'tokens':
      moved.tokens.value;
      return (row) => row.tokens;
    case 'rate':
      moved.rate.value;
      return (row) => row.rate;
    case 'age':
      moved.age.value;
      // The youngest is the one with the latest `since`.
      return (row) => {
        const since = time(row.since);
        return since === null ? null : -since;
      };
  }
}

// While the pointer or the focus is among the rows, nothing moves under it: rows change in place, new ones join at
// the end, gone ones leave. A press on a filter or a header is the user's own wish and counts at once.
export const held = signal(false);

let last: { ids: string[]; wish: string } = { ids: [], wish: '' };

export const shownIds = computed(() => {
  moved.names.value;
  // A filter looks at these; the order by something else does not.
  if (text.value !== '' || wanted.value.size > 0) moved.places.value;
  const matches = matcher();
  const { column, descending } = order.value;
  const wish = JSON.stringify([text.value, [...wanted.value], column, descending]);
  if (held.value && wish === last.wish) {
    const there = new Set(last.ids);
    const kept = last.ids.filter((id) => rows.has(id));
    for (const row of rows.values()) if (!there.has(row.id) && matches(row)) kept.push(row.id);
    last = { ids: kept, wish };
    return last.ids;
  }
  const of = figure(column);
  const ranks = rankByName.value;
  const sign = descending ? -1 : 1;
  const shown: { id: string; key: number | null; rank: number }[] = [];
  for (const row of rows.values()) if (matches(row)) shown.push({ id: row.id, key: of(row), rank: ranks.get(row.id) ?? 0 });
  // What nobody said comes last, whichever way round.
  shown.sort((a, b) => {
    if (a.key === b.key) return a.rank - b.rank;
    if (a.key === null) return 1;
    if (b.key === null) return -1;
    return (a.key - b.key) * sign;
  });
  last = { ids: shown.map(({ id }) => id), wish };
  return last.ids;
});
