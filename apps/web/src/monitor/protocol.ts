// The frames of the dashboard socket, as docs/protocols/dashboard.md has them. `null` is "nobody said".

export const states = ['running', 'not-answering', 'silent', 'unidentified', 'waiting', 'stopped', 'unseen'] as const;
export type State = (typeof states)[number];

export interface Row {
  id: string;
  name: string;
  // One of `states`, or a word of a later monitor, which is shown as it came.
  state: string;
  says: string | null;
  host: string | null;
  folder: string | null;
  port: number | null;
  pid: number | null;
  version: string | null;
  protocol: string | null;
  can: string[] | null;
  since: string | null;
  startedAt: string | null;
  stoppedAt: string | null;
  lastRun: { ok: boolean; outcome: string | null; at: string } | null;
  tokens: number | null;
  rate: number | null;
  current: { running: number; waiting: number } | null;
  canRun: boolean;
  canTerminate: boolean;
  runners: number;
  keyed: boolean;
  note: string | null;
}

export interface Runner {
  host: string;
  pid: number | null;
  since: string | null;
}

export interface Spend {
  tokens: number;
  agents: number;
  of: number;
}

export interface Rates {
  perMinute: number | null;
  windowMs: number;
}

export interface BoardFrame {
  type: 'board';
  at: string;
  here: string;
  since: string;
  protocol: string;
  runners: Runner[];
  spend: Spend;
  rates: Rates;
  agents: Row[];
}

export interface RowsFrame {
  type: 'rows';
  at: string;
  changed: Row[];
  gone: string[];
  spend: Spend;
  rates: Rates;
  runners?: Runner[];
}

export interface Step {
  name: string | null;
  kind: string | null;
  ms: number | null;
  at: string | null;
  ok: boolean | null;
}

export interface Run {
  runId: string;
  parentRunId: string | null;
  agent: string | null;
  startedBy: string | null;
  triggerId: string | null;
  thread: string | null;
  state: string;
  outcome: string | null;
  startedAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  tokens: number | null;
  totalTokens: number | null;
  llmCalls: number | null;
  toolCalls: number | null;
  failure: string | null;
  cause: unknown;
  error: unknown;
  steps: Step[] | null;
  dropped: number | null;
}

export interface RunFrame {
  type: 'run';
  id: string;
  run: Run;
}

export type Entry = Record<string, unknown>;

export interface LogFrame {
  type: 'log';
  id: string;
  entry: Entry | null;
  dropped: number | null;
  tokens: number | null;
  spend: Spend;
}

export interface DidFrame {
  type: 'did';
  of: string;
  id: string | null;
  ask: string | null;
  ok: boolean;
  error: string | null;
  code?: string;
  args?: Record<string, unknown>;
}

export type Frame = BoardFrame | RowsFrame | RunFrame | LogFrame | DidFrame | { type: 'signIn' };
