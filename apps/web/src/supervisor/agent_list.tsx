import { Mark } from '../shared/marks';
import { hrefOf, select, selected } from './address';
import { agents, ask, canStart, config, titleOf } from './agents';
import { AgentChip, OutdatedChip } from './chips';
import { connection } from './connection';
import { unread } from './elsewhere';
import { askers } from './permissions';
import type { Agent } from './rpc_types';
import { words } from './words';

// `chosen` is called after a press on an agent, for a drawer to close.
export function AgentList({ chosen }: { chosen?(): void }) {
  const w = words.value;
  const all = agents.value;
  if (!all) return <p class="hearing">{w.hearing}</p>;
  if (all.length === 0) {
    return (
      <div class="nothing">
        <p>{w.noAgents}</p>
        {config.value && (
          <p>
            <bdi>{w.noAgentsHint(config.value.path)}</bdi>
          </p>
        )}
      </div>
    );
  }
  return (
    <ul class="agent-list">
      {all.map((agent) => (
        <AgentRow key={agent.name} agent={agent} chosen={chosen} />
      ))}
    </ul>
  );
}

function AgentRow({ agent, chosen }: { agent: Agent; chosen: (() => void) | undefined }) {
  const w = words.value;
  const here = selected.value === agent.name;
  const asks = askers.value.get(agent.name) ?? 0;
  return (
    <li class="agent-row" data-here={here} data-agent={agent.name}>
      <a
        class="agent-link"
        href={hrefOf(agent.name)}
        aria-current={here ? 'page' : undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          select(agent.name);
          chosen?.();
        }}
      >
        <span class="agent-name">
          {/* An emoji or a letter: whoever wrote the configuration chose it. */}
          {agent.icon !== '' && (
            <span class="agent-icon" aria-hidden="true">
              {[...agent.icon].slice(0, 2).join('')}
            </span>
          )}
          <bdi>{titleOf(agent)}</bdi>
        </span>
        <span class="agent-marks">
          <AgentChip state={agent.state} />
          {agent.outdated && <OutdatedChip />}
          {asks > 0 && (
            <span class="chip" data-asks>
              <Mark of="diamond" />
              <span class="chip-word">{w.needsYou(asks)}</span>
            </span>
          )}
          {unread.value.has(agent.name) && (
            <span class="chip" data-unread>
              <Mark of="dot" />
              <span class="chip-word">{w.unread}</span>
            </span>
          )}
        </span>
      </a>
      <StartStop agent={agent} />
    </li>
  );
}

// ▶ and ■. The one that would do nothing stays in its place, and says so.
export function StartStop({ agent }: { agent: Agent }) {
  const w = words.value;
  const live = connection.value === 'live';
  const title = titleOf(agent);
  const mayStart = live && canStart(agent);
  const mayStop = live && !canStart(agent);
  return (
    <span class="start-stop">
      <button
        type="button"
        class="button mark-button"
        aria-label={w.startOf(title)}
        title={w.startOf(title)}
        aria-disabled={mayStart ? undefined : 'true'}
        onClick={() => mayStart && void ask('Start', agent.name)}
      >
        <Mark of="play" />
      </button>
      <button
        type="button"
        class="button mark-button"
        aria-label={w.stopOf(title)}
        title={w.stopOf(title)}
        aria-disabled={mayStop ? undefined : 'true'}
        onClick={() => mayStop && void ask('Stop', agent.name)}
      >
        <Mark of="square" />
      </button>
    </span>
  );
}

// The next or the one before, of the list as it stands.
export function move(step: number): void {
  const names = (agents.peek() ?? []).map(({ name }) => name);
  if (names.length === 0) return;
  const at = names.indexOf(selected.peek() ?? '');
  const next = names[at < 0 ? (step > 0 ? 0 : names.length - 1) : Math.min(names.length - 1, Math.max(0, at + step))];
  if (next === undefined) return;
  select(next);
  document.querySelector<HTMLElement>(`.side [data-agent="${CSS.escape(next)}"] .agent-link`)?.focus();
}
