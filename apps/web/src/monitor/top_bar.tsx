import { useEffect, useState } from 'preact/hooks';
import { LanguageChoice, ThemeChoice } from '../shared/choices';
import { now } from '../shared/clock';
import { formatAmount, formatCount, formatTime } from '../shared/format';
import { Mark } from '../shared/marks';
import { Pill } from '../shared/pill';
import { connection } from './commands';
import { dialog } from './dialogs';
import { board } from './fleet';
import { words } from './words';

const kHostsNamed = 3;

export function TopBar() {
  const w = words.value;
  return (
    <header class="top">
      <h1>
        <Mark of="clock" /> watchbill
      </h1>
      {board.value && (
        <span class="here">
          <bdi>{board.value.here}</bdi>
        </span>
      )}
      <Pill state={connection.value} names={w.connection} />
      <span class="spring" />
      <button type="button" class="button primary" onClick={() => (dialog.value = { kind: 'entry', entry: null })}>
        {w.add}
      </button>
      <LanguageChoice label={w.language} />
      <ThemeChoice label={w.theme} names={w.themes} />
      <button type="button" class="button" aria-label={w.help} title={w.help} onClick={() => (dialog.value = { kind: 'help' })}>
        ?
      </button>
    </header>
  );
}

// Says since when the page is no longer the truth.
export function StaleNotice() {
  const state = connection.value;
  const [since, setSince] = useState<string | null>(null);
  useEffect(() => {
    setSince(state === 'lost' && board.peek() ? new Date(now.peek()).toISOString() : null);
  }, [state]);
  if (state !== 'lost') return null;
  const w = words.value;
  return (
    <p class="stale-notice">
      <Mark of="warning" /> {since ? w.staleSince(formatTime(since, now.value)) : w.stale}
    </p>
  );
}

export function Totals() {
  const w = words.value;
  const facts = board.value;
  if (!facts) return null;
  const { spend, rates, runners } = facts;
  const hosts = [...new Set(runners.map(({ host }) => host))];
  const named = hosts.length > kHostsNamed ? [...hosts.slice(0, kHostsNamed), w.andMore(hosts.length - kHostsNamed)] : hosts;
  return (
    <section class="totals" aria-label={w.totals}>
      <dl>
        <div>
          <dt>{w.tokens}</dt>
          <dd>
            <strong>{spend.agents === 0 ? '—' : formatAmount(spend.tokens)}</strong> <small>{w.tokensFrom(spend.agents, spend.of)}</small>
          </dd>
        </div>
        <div>
          <dt>{w.perMinute}</dt>
          <dd>
            <strong>{rates.perMinute === null ? '—' : formatAmount(rates.perMinute)}</strong>{' '}
            <small>{w.overMinutes(Math.max(1, Math.round(rates.windowMs / 60_000)))}</small>
          </dd>
        </div>
        <div>
          <dt>{w.runners}</dt>
          <dd>
            <strong>{formatCount(runners.length)}</strong>{' '}
            <small>
              <bdi>{hosts.length === 0 ? w.noRunners : w.runnersOn(named)}</bdi>
            </small>
          </dd>
        </div>
      </dl>
    </section>
  );
}
