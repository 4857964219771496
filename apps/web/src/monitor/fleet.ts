// What the monitor said, and nothing worked out beside it. Frames change this at once; the page is told once in an
// animation frame, so that a hundred frames between two pictures cost one picture, and a page in the background none.
import { batch, signal } from '@preact/signals';
import { heardTime } from '../shared/clock';
import type { BoardFrame, LogFrame, Rates, Row, RowsFrame, Run, RunFrame, Runner, Spend } from './protocol';

export interface Board {
  here: string;
  since: string;
  protocol: string;
  runners: Runner[];
  spend: Spend;
  rates: Rates;
}

// A line of an agent's journal as it came, or a gap: so many lines that were not sent.
export type Line = { key: number; entry: Record<string, unknown> } | { key: number; gap: number };

const kLinesKept = 500;
const kRunsKept = 200;
// Agents whose lines and runs are kept; beyond it, those that were quiet for longest are let go.
const kAgentsKept = 400;

export const rows = new Map<string, Row>();
// Moves when anything drawn in the table did.
export const revision = signal(0);
export const board = signal<Board | null>(null);
// Which part of any row moved, so that only what looks at it is worked out again: sorting ten thousand rows by name
// because one of them counted a token would cost more than drawing it. `names` is also who is there at all, `places`
// is state, machine and folder.
export const moved = { names: signal(0), places: signal(0), runs: signal(0), last: signal(0), tokens: signal(0), rate: signal(0), age: signal(0) };

const journals = new Map<string, Line[]>();
const runs = new Map<string, Map<string, Run>>();
// Moves when lines or runs of any agent arrived.
export const happenings = signal(0);

let nextKey = 1;
let scheduled = false;
let rowsMoved = false;
const parts = new Set<keyof typeof moved>();
let happened = false;
let facts: Board | null = null;

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    batch(() => {
      if (facts !== board.peek()) board.value = facts;
      for (const part of parts) moved[part].value++;
      parts.clear();
      if (rowsMoved) revision.value++;
      if (happened) happenings.value++;
      rowsMoved = happened = false;
    });
  });
}

function put(row: Row): void {
  const was = rows.get(row.id);
  rows.set(row.id, row);
  rowsMoved = true;
  if (!was || was.name !== row.name) parts.add('names');
  if (!was || was.state !== row.state || was.host !== row.host || was.folder !== row.folder) parts.add('places');
  if (!was || was.current?.running !== row.current?.running || was.current?.waiting !== row.current?.waiting) parts.add('runs');
  if (!was || was.lastRun?.at !== row.lastRun?.at) parts.add('last');
  if (!was || was.tokens !== row.tokens) parts.add('tokens');
  if (!was || was.rate !== row.rate) parts.add('rate');
  if (!was || was.since !== row.since) parts.add('age');
}

function take(id: string): void {
  rows.delete(id);
  journals.delete(id);
  runs.delete(id);
  rowsMoved = true;
  parts.add('names').add('places');
}

export function applyBoard(frame: BoardFrame): void {
  heardTime(frame.at);
  const there = new Set(frame.agents.map(({ id }) => id));
  for (const id of rows.keys()) if (!there.has(id)) take(id);
  for (const row of frame.agents) put(row);
  const { here, since, protocol, runners, spend, rates } = frame;
  facts = { here, since, protocol, runners, spend, rates };
  schedule();
}

export function applyRows(frame: RowsFrame): void {
  heardTime(frame.at);
  for (const row of frame.changed) put(row);
  for (const id of frame.gone) take(id);
  if (facts) facts = { ...facts, spend: frame.spend, rates: frame.rates, runners: frame.runners ?? facts.runners };
  schedule();
}

export function applyRun({ id, run }: RunFrame): void {
  const known = recent(runs, id, () => new Map<string, Run>());
  known.set(run.runId, run);
  // The oldest that is over goes first: a long run is not forgotten for the many short ones after it.
  if (known.size > kRunsKept) {
    let oldest = known.keys().next().value;
    for (const [runId, { state }] of known) {
      if (state !== 'ok' && state !== 'failed') continue;
      oldest = runId;
      break;
    }
    if (oldest !== undefined) known.delete(oldest);
  }
  happened = true;
  schedule();
}

export function applyLog(frame: LogFrame): void {
  const lines = recent(journals, frame.id, (): Line[] => []);
  if (frame.dropped) lines.push({ key: nextKey++, gap: frame.dropped });
  // An agent may tell of a gap alone.
  if (frame.entry) lines.push({ key: nextKey++, entry: frame.entry });
  if (lines.length > kLinesKept) lines.splice(0, lines.length - kLinesKept);
  const row = rows.get(frame.id);
  if (row && row.tokens !== frame.tokens) put({ ...row, tokens: frame.tokens });
  if (facts) facts = { ...facts, spend: frame.spend };
  happened = true;
  schedule();
}

function recent<T>(all: Map<string, T>, id: string, make: () => T): T {
  const found = all.get(id) ?? make();
  all.delete(id);
  all.set(id, found);
  if (all.size > kAgentsKept) {
    const quietest = all.keys().next().value;
    if (quietest !== undefined) all.delete(quietest);
  }
  return found;
}

export function linesOf(id: string): readonly Line[] {
  return journals.get(id) ?? [];
}

export function runsOf(id: string): ReadonlyMap<string, Run> {
  return runs.get(id) ?? new Map();
}
