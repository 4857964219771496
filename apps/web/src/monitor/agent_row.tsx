import { Component } from 'preact';
import { ArmedButton } from '../shared/armed_button';
import { now } from '../shared/clock';
import { formatAge, formatAmount, formatCount, formatFullTime, formatTime } from '../shared/format';
import { Mark } from '../shared/marks';
import { StateChip } from './chips';
import { ask, connection, tell } from './commands';
import type { Row } from './protocol';
import { selected } from './view';
import { words, type Words } from './words';

const kConnected: ReadonlySet<string> = new Set(['running', 'not-answering', 'unidentified']);

// Why Run is not offered, null when it is.
export function runRefusal(w: Words, row: Row, live: boolean): string | null {
  if (!live) return w.notConnected;
  if (row.canRun) return null;
  if (kConnected.has(row.state)) return w.alreadyRunning;
  if (!row.folder) return w.noFolder;
  if (row.runners === 0) return row.host ? w.noRunner(row.host) : w.noRunnerAnywhere;
  return w.cannotRun;
}

export function terminateRefusal(w: Words, row: Row, live: boolean): string | null {
  if (!live) return w.notConnected;
  return row.canTerminate ? null : w.cannotEnd;
}

// A figure that nobody reported is not nought, and says so to eye, pointer and ear.
export function Figure({ value }: { value: number | null }) {
  if (value !== null) return <>{formatAmount(value)}</>;
  const { nobodySaid } = words.value;
  return (
    <span title={nobodySaid}>
      <span aria-hidden="true">—</span>
      <span class="spoken">{nobodySaid}</span>
    </span>
  );
}

export function Age({ since }: { since: string | null }) {
  const at = since === null ? NaN : Date.parse(since);
  if (since === null || Number.isNaN(at)) return <Figure value={null} />;
  return <span title={formatFullTime(since)}>{formatAge(now.value - at)}</span>;
}

function Current({ current }: { current: Row['current'] }) {
  const w = words.value;
  if (!current) return <Figure value={null} />;
  const { running, waiting } = current;
  if (running === 0 && waiting === 0) return <span class="faint">{w.idle}</span>;
  const parts = [];
  if (running > 0) parts.push(w.runningNow(running));
  if (waiting > 0) parts.push(w.waitingNow(waiting));
  return <span title={parts.join(', ')}>{parts.join(' · ')}</span>;
}

export function LastRun({ last }: { last: Row['lastRun'] }) {
  const w = words.value;
  if (!last) return <span class="faint">{w.lastNone}</span>;
  return (
    <span class="last" data-run={last.ok ? 'ok' : 'failed'} title={[last.outcome, formatFullTime(last.at)].filter(Boolean).join(', ')}>
      <Mark of={last.ok ? 'tick' : 'cross'} /> {last.ok ? w.lastOk : w.lastFailed} <time dateTime={last.at}>{formatTime(last.at, now.value)}</time>
    </span>
  );
}

export function Actions({ row, ordinal, tabIndex }: { row: Row; ordinal: string; tabIndex: number }) {
  const w = words.value;
  const live = connection.value === 'live';
  const noRun = runRefusal(w, row, live);
  const noEnd = terminateRefusal(w, row, live);
  const { id, name } = row;
  const whyRun = `why-run-${ordinal}`;
  const whyEnd = `why-end-${ordinal}`;
  const refused = (why: string) => tell(() => `${name}: ${why}`, true);
  return (
    <>
      <button
        type="button"
        class="button"
        tabIndex={tabIndex}
        aria-label={`${w.run}: ${name}`}
        aria-disabled={noRun !== null ? 'true' : undefined}
        aria-describedby={noRun !== null ? whyRun : undefined}
        title={noRun ?? undefined}
        onClick={(event) => {
          event.stopPropagation();
          if (noRun !== null) refused(noRun);
          else ask('run', id);
        }}
      >
        {w.run}
      </button>
      {noRun !== null && (
        <span id={whyRun} class="spoken">
          {noRun}
        </span>
      )}
      <ArmedButton
        label={w.terminate}
        again={w.again}
        about={name}
        refusal={noEnd}
        refusalId={whyEnd}
        tabIndex={tabIndex}
        act={() => ask('terminate', id)}
        armed={() => tell((said) => said.againToEnd(name))}
        refused={refused}
      />
      {noEnd !== null && (
        <span id={whyEnd} class="spoken">
          {noEnd}
        </span>
      )}
    </>
  );
}

interface Props {
  row: Row;
  // Its place in the whole table, not among the rows that are drawn.
  index: number;
  height: number;
  // Only the current row takes part in the order of Tab: ten thousand rows are one stop.
  current: boolean;
  open: boolean;
  words: Words;
}

// Drawn again only for another row object: the monitor replaces whole rows, so identity tells.
export class AgentRow extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const was = this.props;
    return (
      next.row !== was.row || next.index !== was.index || next.current !== was.current || next.open !== was.open || next.height !== was.height || next.words !== was.words
    );
  }

  override render({ row, index, height, current, open, words: w }: Props) {
    const tabIndex = current ? 0 : -1;
    return (
      <div
        role="row"
        class="row"
        aria-rowindex={index + 2}
        aria-selected={open}
        data-index={index}
        data-state={row.state}
        style={{ transform: `translateY(${index * height}px)` }}
        onClick={() => (selected.value = row.id)}
      >
        <div role="gridcell" class="c-state">
          <StateChip state={row.state} />
        </div>
        <div role="gridcell" class="c-name">
          <button type="button" class="name" tabIndex={tabIndex} title={row.name} aria-label={w.open(row.name)} data-open={row.id}>
            <bdi>{row.name}</bdi>
          </button>
        </div>
        <div role="gridcell" class="c-machine" title={row.host ?? undefined}>
          {row.host ? <bdi>{row.host}</bdi> : <Figure value={null} />}
        </div>
        <div role="gridcell" class="c-runs">
          <Current current={row.current} />
        </div>
        <div role="gridcell" class="c-last">
          <LastRun last={row.lastRun} />
        </div>
        <div role="gridcell" class="c-tokens number" title={row.tokens === null ? undefined : formatCount(row.tokens)}>
          <Figure value={row.tokens} />
        </div>
        <div role="gridcell" class="c-rate number">
          <Figure value={row.rate} />
        </div>
        <div role="gridcell" class="c-age number">
          <Age since={row.since} />
        </div>
        <div role="gridcell" class="c-actions">
          <Actions row={row} ordinal={String(index)} tabIndex={tabIndex} />
        </div>
      </div>
    );
  }
}
