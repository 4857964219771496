import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ArmedButton } from '../shared/armed_button';
import { now } from '../shared/clock';
import { formatCount, formatFullTime, formatTime } from '../shared/format';
import { language } from '../shared/language';
import { media } from '../shared/media';
import { Modal } from '../shared/modal';
import { Actions, Age, Figure, LastRun } from './agent_row';
import { forget } from './agent_list';
import { StateChip } from './chips';
import { connection, tell } from './commands';
import { dialog } from './dialogs';
import { revision, rows } from './fleet';
import { Journal } from './journal';
import type { Row, State } from './protocol';
import { whyRefused } from './refusal';
import { Runs } from './runs';
import { selected } from './view';
import { words } from './words';

const narrow = media('(max-width: 899px)');

function close(): void {
  selected.value = null;
}

// Beside the table where there is room, over it where there is not.
export function Details() {
  revision.value;
  const id = selected.value;
  const w = words.value;
  if (id === null) return null;
  const row = rows.get(id);
  const title = row?.name ?? w.details;
  const content = row ? <Content key={id} row={row} /> : <p class="faint">{w.noSuchAgent}</p>;
  if (narrow.value) {
    return (
      <Modal key={id} title={title} close={w.close} class="details-sheet" onClose={close}>
        {content}
      </Modal>
    );
  }
  return (
    <Panel key={id} title={title}>
      {content}
    </Panel>
  );
}

function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  const w = words.value;
  const panel = useRef<HTMLElement>(null);
  // Closing gives the focus back to the row that it was opened from, where it was inside.
  useEffect(() => {
    const before = document.activeElement;
    const shown = panel.current;
    return () => {
      if (shown?.contains(document.activeElement) && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <aside ref={panel} class="details" aria-labelledby="details-title">
      <header class="modal-head">
        <h2 id="details-title" tabIndex={-1}>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" class="button quiet" onClick={close}>
          {w.close}
        </button>
      </header>
      {children}
    </aside>
  );
}

function Content({ row }: { row: Row }) {
  const w = words.value;
  const live = connection.value === 'live';
  const { id, name, folder, host, note } = row;
  const edit = () => {
    dialog.value = { kind: 'entry', entry: { id, name, folder: folder ?? '', host: host ?? '', note: note ?? '' } };
  };
  const forgetIt = async () => {
    const refused = await forget(id);
    if (refused) tell((said) => said.notForgotten(name, whyRefused(said, refused)), true);
    else tell((said) => said.forgotten(name));
  };
  return (
    <div class="details-body">
      <div class="details-state">
        <StateChip state={row.state} />
        <span class="faint">
          <Age since={row.since} />
        </span>
        <span class="spring" />
        <span class="details-actions">
          <Actions row={row} ordinal="details" tabIndex={0} />
        </span>
      </div>
      <Says row={row} />
      <Facts row={row} />
      <div class="entry-actions">
        <p class="faint">{row.keyed ? w.keyed : w.notKeyed}</p>
        <button type="button" class="button" onClick={edit}>
          {row.keyed ? w.edit : w.keep}
        </button>
        {row.keyed && (
          <ArmedButton
            label={w.forget}
            again={w.again}
            about={name}
            refusal={live ? null : w.notConnected}
            act={forgetIt}
            armed={() => tell((said) => said.againToForget(name))}
            refused={(why) => tell(() => why, true)}
          />
        )}
      </div>
      <Runs id={id} />
      <Journal id={id} />
    </div>
  );
}

// The monitor's own sentence is English; in another language what the state means is said instead, where it is known.
function Says({ row }: { row: Row }) {
  const { legend } = words.value;
  const meaning = language.value !== 'en' && Object.hasOwn(legend, row.state) ? legend[row.state as State] : row.says;
  if (!meaning) return null;
  return (
    <p class="says">
      <bdi>{meaning}</bdi>
    </p>
  );
}

function Facts({ row }: { row: Row }) {
  const w = words.value;
  const said = (value: string | number | null) => (value === null || value === '' ? <Figure value={null} /> : <bdi>{String(value)}</bdi>);
  const time = (iso: string | null) =>
    iso === null ? (
      <Figure value={null} />
    ) : (
      <time dateTime={iso} title={formatFullTime(iso)}>
        {formatTime(iso, now.value)}
      </time>
    );
  // True: what may be long has a line of its own.
  const all: [string, ComponentChildren, boolean?][] = [
    [w.fact.id, <code>{said(row.id)}</code>, true],
    [w.fact.folder, said(row.folder), true],
    [w.fact.can, row.can && row.can.length > 0 ? <Capabilities names={row.can} /> : <Figure value={null} />, true],
    [w.fact.machine, said(row.host)],
    [w.fact.pid, said(row.pid)],
    [w.fact.version, said(row.version)],
    [w.fact.port, said(row.port)],
    [w.fact.protocol, said(row.protocol)],
    [w.fact.tokens, row.tokens === null ? <Figure value={null} /> : formatCount(row.tokens)],
    [w.fact.startedAt, time(row.startedAt)],
    [w.fact.stoppedAt, time(row.stoppedAt)],
    [w.fact.since, time(row.since)],
    [w.fact.lastRun, <LastRun last={row.lastRun} />],
    [w.fact.note, said(row.note), true],
  ];
  return (
    <section aria-labelledby="facts-heading">
      <h3 id="facts-heading">{w.facts}</h3>
      <dl class="facts">
        {all.map(([name, value, whole]) => (
          <div key={name} class={whole ? 'whole' : undefined}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Capabilities({ names }: { names: readonly string[] }) {
  return (
    <ul class="capabilities">
      {names.map((name) => (
        <li key={name}>
          <bdi>{name}</bdi>
        </li>
      ))}
    </ul>
  );
}
