import { useFollowing } from '../shared/following';
import { formatAmount, formatShare } from '../shared/format';
import { Mark } from '../shared/marks';
import { commandsOf, current, logOf, titleOf } from './agents';
import { AgentChip, OutdatedChip } from './chips';
import { focusComposer } from './composer';
import { draftOf } from './drafts';
import type { Agent, Usage } from './rpc_types';
import { usage } from './talk';
import { words } from './words';

// What is known of the agent that one talks to. `used` is called when something was taken over into the message.
export function About({ used }: { used?(): void }) {
  const w = words.value;
  const agent = current.value;
  if (!agent) return null;
  return (
    <div class="about-body">
      <p class="about-state">
        <AgentChip state={agent.state} />
        {agent.outdated && <OutdatedChip />}
      </p>
      {agent.description !== '' && (
        <p>
          <bdi>{agent.description}</bdi>
        </p>
      )}
      {agent.error !== '' && (
        <section aria-labelledby="about-error">
          <h3 id="about-error">{w.whyError}</h3>
          <pre class="about-error" tabIndex={0} dir="auto">
            {agent.error}
          </pre>
        </section>
      )}
      <Context said={usage.value[agent.name]} />
      <Commands agent={agent} used={used} />
      <Log key={agent.name} agent={agent} />
    </div>
  );
}

function Context({ said }: { said: Usage | undefined }) {
  const w = words.value;
  return (
    <section aria-labelledby="about-context">
      <h3 id="about-context">{w.context}</h3>
      {said ? <Meter usage={said} /> : <p class="faint">{w.noUsage}</p>}
    </section>
  );
}

function Meter({ usage: { used, size } }: { usage: Usage }) {
  const w = words.value;
  if (size <= 0) return <p>{w.usageAlone(formatAmount(used))}</p>;
  const share = Math.min(1, Math.max(0, used / size));
  const text = w.usage(formatAmount(used), formatAmount(size));
  return (
    <>
      <div
        class="meter"
        role="meter"
        aria-labelledby="about-context"
        aria-valuemin={0}
        aria-valuemax={size}
        aria-valuenow={Math.min(used, size)}
        aria-valuetext={text}
        data-level={share >= 0.9 ? 'full' : share >= 0.7 ? 'high' : 'low'}
      >
        <span style={{ width: `${share * 100}%` }} />
      </div>
      <p class="meter-words">
        {text}
        <br />
        <span class="faint">{w.percent(formatShare(share))}</span>
      </p>
    </>
  );
}

function Commands({ agent, used }: { agent: Agent; used: (() => void) | undefined }) {
  const w = words.value;
  const commands = commandsOf(agent.name).value;
  const write = (name: string) => {
    draftOf(agent.name).value = `/${name} `;
    used?.();
    focusComposer();
  };
  return (
    <section aria-labelledby="about-commands">
      <h3 id="about-commands">{w.commands}</h3>
      {commands.length === 0 && <p class="faint">{w.noCommands}</p>}
      <ul class="about-commands">
        {commands.map(({ name, description, hint }) => (
          <li key={name}>
            <button type="button" class="button quiet" aria-label={w.insertCommand(name)} onClick={() => write(name)}>
              <code>/{name}</code>
            </button>
            {hint !== '' && (
              <code class="faint">
                {' '}
                <bdi>{hint}</bdi>
              </code>
            )}
            <p class="faint">
              <bdi>{description}</bdi>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

// The last lines of its standard error, newest at the foot. Scrolled up, they stand still and new ones are counted.
function Log({ agent }: { agent: Agent }) {
  const w = words.value;
  const { box, shown, held, waiting, onScroll, toNewest } = useFollowing(logOf(agent.name).value.lines);
  return (
    <section class="journal" aria-labelledby="about-log">
      <h3 id="about-log">
        {w.log} <small class="faint">{w.logHint}</small>
      </h3>
      <div ref={box} class="lines" role="log" aria-live="off" aria-label={`${w.log}: ${titleOf(agent)}`} tabIndex={0} onScroll={onScroll}>
        {shown.length === 0 && <p class="faint">{w.noLines}</p>}
        {shown.map(({ key, text }) => (
          <p key={key} class="line" dir="auto">
            {text}
          </p>
        ))}
      </div>
      {held && (
        <button type="button" class="button newer" onClick={toNewest}>
          <Mark of="down" /> {waiting > 0 ? w.newLines(waiting) : w.backToNewest}
        </button>
      )}
    </section>
  );
}
