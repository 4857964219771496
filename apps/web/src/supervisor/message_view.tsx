import { useMemo } from 'preact/hooks';
import { now } from '../shared/clock';
import { formatFullTime, formatTime } from '../shared/format';
import { Mark } from '../shared/marks';
import { agents, ask, canStart, titleFor } from './agents';
import { connection } from './connection';
import { Markdown } from './markdown';
import { Questions } from './permission_card';
import { PlanCard } from './plan_card';
import type { Message, Part } from './rpc_types';
import type { Entry } from './talk';
import { ToolCard } from './tool_card';
import { stopWord, systemWord, words } from './words';

export function MessageView({ entry }: { entry: Entry }) {
  const message = entry.message.value;
  if (message.role === 'system') return <SystemMessage message={message} />;
  return message.role === 'user' ? <UserMessage message={message} /> : <AgentMessage message={message} />;
}

function Time({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={formatFullTime(iso)}>
      {formatTime(iso, now.value)}
    </time>
  );
}

function UserMessage({ message }: { message: Message }) {
  const w = words.value;
  const text = message.parts.map((part) => ('text' in part ? part.text : '')).join('');
  return (
    <article class="message user" data-message={message.id} aria-label={w.youWrote}>
      <div class="bubble">
        <Markdown text={text} />
      </div>
      <p class="message-foot">
        {message.queued && (
          <span class="chip" data-queued>
            <Mark of="clock" />
            <span class="chip-word">{w.queued}</span>
          </span>
        )}
        {message.error !== '' && (
          <span class="fault">
            <Mark of="cross" /> {message.error === 'cancelled' ? w.notSentCancelled : message.error}
          </span>
        )}
        <Time iso={message.createdAt} />
      </p>
    </article>
  );
}

function AgentMessage({ message }: { message: Message }) {
  const w = words.value;
  const { parts, done } = message;
  const tools = new Set(parts.flatMap((part) => (part.kind === 'tool' ? [part.tool.id] : [])));
  const name = titleFor(message.agent);
  return (
    <article class="message agent" data-message={message.id} aria-label={w.wrote(name)} aria-busy={!done}>
      <p class="message-head">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <Time iso={message.createdAt} />
      </p>
      {parts.map((part, index) => (
        <PartView key={index} part={part} messageId={message.id} writing={!done && index === parts.length - 1} />
      ))}
      <Questions messageId={message.id} toolId={null} tools={tools} />
      {!done && parts.length === 0 && (
        <p class="waiting">
          <Mark of="halfRing" /> {w.waitingForWords}
        </p>
      )}
      {done && <Ending message={message} />}
    </article>
  );
}

function PartView({ part, messageId, writing }: { part: Part; messageId: string; writing: boolean }) {
  return useMemo(() => <OnePart part={part} messageId={messageId} writing={writing} />, [part, messageId, writing]);
}

function OnePart({ part, messageId, writing }: { part: Part; messageId: string; writing: boolean }) {
  const w = words.value;
  switch (part.kind) {
    case 'text':
      return (
        <div class={writing ? 'words writing' : 'words'}>
          <Markdown text={part.text} finished={!writing} />
        </div>
      );
    case 'thought':
      return (
        <details class="thought">
          <summary>{writing ? w.thinking : w.thought}</summary>
          <Markdown text={part.text} finished={!writing} />
        </details>
      );
    case 'tool':
      return (
        <>
          <ToolCard tool={part.tool} />
          <Questions messageId={messageId} toolId={part.tool.id} />
        </>
      );
    case 'plan':
      return <PlanCard entries={part.entries} />;
    default:
      // A part of a later supervisor.
      return null;
  }
}

// How it ended, where that was not simply the end.
function Ending({ message }: { message: Message }) {
  const w = words.value;
  const { stopReason, error } = message;
  if (error !== '') {
    return (
      <div class="ending bad">
        <p>
          <Mark of="warning" /> {w.endedWithError}
        </p>
        <pre dir="auto">{error}</pre>
      </div>
    );
  }
  if (stopReason === '' || stopReason === 'end_turn') return null;
  return (
    <p class="ending" data-reason={stopReason}>
      <Mark of={stopReason === 'cancelled' ? 'square' : 'warning'} /> {stopWord(w, stopReason)}
    </p>
  );
}

function SystemMessage({ message }: { message: Message }) {
  const w = words.value;
  const { code, agent, error } = message;
  const text = message.parts.map((part) => ('text' in part ? part.text : '')).join('');
  if (code !== 'agent-unavailable') {
    return (
      <p class="message system" data-message={message.id}>
        <bdi>{systemWord(w, code, titleFor(agent)) || text || error || code}</bdi>
      </p>
    );
  }
  const known = agents.value?.find(({ name }) => name === agent);
  const startable = known !== undefined && canStart(known) && connection.value === 'live';
  return (
    <article class="message system unavailable" data-message={message.id} aria-label={w.unavailable(titleFor(agent))}>
      <p>
        <Mark of="warning" /> <bdi>{w.unavailable(titleFor(agent))}</bdi>
      </p>
      {error !== '' && (
        <pre tabIndex={0} dir="auto">
          {error}
        </pre>
      )}
      <p>
        <button type="button" class="button" aria-disabled={startable ? undefined : 'true'} onClick={() => startable && void ask('Start', agent)}>
          <Mark of="play" /> {w.startAgain}
        </button>
      </p>
    </article>
  );
}
