import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Mark } from '../shared/marks';
import { ask, current, titleFor, titleOf } from './agents';
import { StartStop } from './agent_list';
import { AgentChip, OutdatedChip } from './chips';
import { Composer } from './composer';
import { connection } from './connection';
import { why } from './faults';
import { Messages, QuestionBar, type Scroller } from './messages';
import { outcome } from './outcome';
import { phase, reload, talkingTo, unknownAgent } from './talk';
import { words } from './words';

export function Conversation() {
  const w = words.value;
  const scroller = useRef<Scroller | null>(null);
  const agent = talkingTo.value;
  const at = phase.value;
  if (unknownAgent()) {
    return (
      <Card title={w.unknownTitle}>
        <p>{w.unknownLead(agent)}</p>
      </Card>
    );
  }
  return (
    <section class="conversation" aria-labelledby="conversation-title">
      <Head agent={agent} />
      <Fault />
      {at.is === 'failed' && (
        <Card title={w.failedTitle}>
          <p class="fault">{why(w, at.error)}</p>
          <p>
            <button type="button" class="button" onClick={reload}>
              {w.tryAgain}
            </button>
          </p>
        </Card>
      )}
      {at.is === 'loading' && <p class="hearing">{w.loading}</p>}
      {at.is === 'ready' && <Messages key={agent} scroller={scroller} />}
      <div class="foot">
        <QuestionBar />
        <Outcome />
        <Composer key={agent} agent={agent} sent={() => scroller.current?.toNewest()} />
      </div>
    </section>
  );
}

function Head({ agent }: { agent: string }) {
  const known = current.value;
  return (
    <header class="conversation-head">
      <h2 id="conversation-title" tabIndex={-1}>
        <bdi>{titleFor(agent)}</bdi>
      </h2>
      {known && (
        <>
          <AgentChip state={known.state} />
          {known.outdated && <Outdated />}
          <span class="spring" />
          <StartStop agent={known} />
        </>
      )}
    </header>
  );
}

function Outdated() {
  const w = words.value;
  const live = connection.value === 'live';
  const known = current.value;
  return (
    <>
      <OutdatedChip />
      <button type="button" class="button" aria-disabled={live ? undefined : 'true'} onClick={() => live && known && void ask('Restart', known.name)}>
        {w.restart}
      </button>
    </>
  );
}

// The reason of an error, with the last lines of its standard error, can be read as a whole without going anywhere.
function Fault() {
  const w = words.value;
  const known = current.value;
  if (!known || known.state !== 'error' || known.error === '') return null;
  const [first = '', ...rest] = known.error.split('\n');
  if (rest.join('').trim() === '') {
    return (
      <p class="agent-fault">
        <Mark of="warning" /> <bdi>{first}</bdi>
      </p>
    );
  }
  return (
    <details class="agent-fault">
      <summary>
        <Mark of="warning" /> <bdi>{first}</bdi>
      </summary>
      <pre tabIndex={0} dir="auto" aria-label={`${titleOf(known)}: ${w.whyError}`} role="group">
        {known.error}
      </pre>
    </details>
  );
}

function Outcome() {
  const w = words.value;
  const said = outcome.value;
  return (
    <div class="outcome-line" data-bad={said?.bad ?? false} data-empty={said === null}>
      <div role="status" aria-label={w.result}>
        {said && <bdi>{said.say(w)}</bdi>}
      </div>
      {said && (
        <button type="button" class="button quiet" onClick={() => (outcome.value = null)}>
          {w.dismiss}
        </button>
      )}
    </div>
  );
}

export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-labelledby="card-title">
      <h2 id="card-title">{title}</h2>
      {children}
    </section>
  );
}
