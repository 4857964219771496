import { now } from '../shared/clock';
import { formatAmount, formatDuration, formatFullTime, formatTime } from '../shared/format';
import { useFollowing } from '../shared/following';
import { Mark } from '../shared/marks';
import { happenings, linesOf } from './fleet';
import type { Entry } from './protocol';
import { words, type Words } from './words';

// Shown in places of their own, so not once more among the rest.
const kPlaced = new Set(['id', 'kind', 'name', 'at', 'ok', 'tokens', 'durationMs', 'withheld', 'thread', 'runId', 'parentRunId']);

// The last lines, newest at the foot. Scrolled up, the lines stand still and new ones are counted instead.
export function Journal({ id }: { id: string }) {
  happenings.value;
  const w = words.value;
  const { box, shown, held, waiting, onScroll, toNewest } = useFollowing(linesOf(id));
  return (
    <section class="journal" aria-labelledby="log-heading">
      <h3 id="log-heading">
        {w.log} <small class="faint">{w.logHint}</small>
      </h3>
      {/* Lines come faster than speech: whoever listens reads them at leisure instead of being read to. */}
      <div ref={box} class="lines" role="log" aria-live="off" aria-labelledby="log-heading" tabIndex={0} onScroll={onScroll}>
        {shown.length === 0 && <p class="faint">{w.noLines}</p>}
        {shown.map((line) =>
          'gap' in line ? (
            <p key={line.key} class="gap">
              {w.notSent(line.gap)}
            </p>
          ) : (
            <LogLine key={line.key} entry={line.entry} words={w} />
          ),
        )}
      </div>
      {held && (
        <button type="button" class="button newer" onClick={toNewest}>
          <Mark of="down" /> {waiting > 0 ? w.newLines(waiting) : w.backToLive}
        </button>
      )}
    </section>
  );
}

function word(entry: Entry, name: string): string | null {
  const value = Object.hasOwn(entry, name) ? entry[name] : null;
  return typeof value === 'string' && value !== '' ? value : null;
}

function tokensOf(entry: Entry): number | null {
  const { tokens } = entry;
  if (typeof tokens === 'number') return tokens;
  if (typeof tokens !== 'object' || tokens === null || !('total' in tokens)) return null;
  return typeof tokens.total === 'number' ? tokens.total : null;
}

function LogLine({ entry, words: w }: { entry: Entry; words: Words }) {
  const at = word(entry, 'at');
  const tokens = tokensOf(entry);
  const duration = entry['durationMs'];
  const withheld = Array.isArray(entry['withheld']) ? entry['withheld'].filter((name): name is string => typeof name === 'string') : [];
  const rest = Object.entries(entry).filter(
    ([name, value]) => !kPlaced.has(name) && (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'),
  );
  return (
    <p class="line" data-ok={entry['ok'] !== false}>
      {at !== null && (
        <time dateTime={at} title={formatFullTime(at)}>
          {formatTime(at, now.peek())}
        </time>
      )}
      <span class="kind">
        <bdi>{word(entry, 'kind') ?? '—'}</bdi>
      </span>
      {word(entry, 'name') !== null && <bdi class="line-name">{word(entry, 'name')}</bdi>}
      {entry['ok'] === false && (
        <span class="step-failed">
          <Mark of="cross" /> {w.stepFailed}
        </span>
      )}
      {typeof duration === 'number' && <span class="faint">{formatDuration(duration)}</span>}
      {tokens !== null && <span class="faint">{w.tokensOf(formatAmount(tokens))}</span>}
      {rest.map(([name, value]) => (
        <span key={name} class="extra">
          <span class="faint">
            <bdi>{name}</bdi>
          </span>{' '}
          <bdi>{String(value)}</bdi>
        </span>
      ))}
      {withheld.length > 0 && (
        <span class="faint">
          <bdi>{w.withheld(withheld)}</bdi>
        </span>
      )}
    </p>
  );
}
