import { now } from '../shared/clock';
import { formatAmount, formatDuration, formatFullTime, formatTime } from '../shared/format';
import { Mark } from '../shared/marks';
import { RunChip } from './chips';
import { happenings, runsOf } from './fleet';
import type { Run, Step } from './protocol';
import { starterWord, words } from './words';

const kRootsShown = 50;

interface Node {
  run: Run;
  children: Node[];
}

// The tree of `parentRunId` and nothing else. A run whose parent was never heard of stands at the top; so does one
// of a ring of parents, which no honest agent makes and no page may hang on.
function tree(runs: ReadonlyMap<string, Run>): Node[] {
  const nodes = new Map<string, Node>();
  for (const run of runs.values()) nodes.set(run.runId, { run, children: [] });
  const roots: Node[] = [];
  for (const node of nodes.values()) {
    const parent = node.run.parentRunId === null ? undefined : nodes.get(node.run.parentRunId);
    if (parent && !leadsTo(parent, node, nodes)) parent.children.push(node);
    else roots.push(node);
  }
  const started = ({ run }: Node) => (run.startedAt ? Date.parse(run.startedAt) : 0);
  for (const { children } of nodes.values()) children.sort((a, b) => started(a) - started(b));
  // What still goes on is what one came to see.
  const over = ({ run }: Node) => (run.state === 'running' || run.state === 'waiting' ? 0 : 1);
  return roots.sort((a, b) => over(a) - over(b) || started(b) - started(a));
}

function leadsTo(from: Node, to: Node, nodes: ReadonlyMap<string, Node>): boolean {
  const passed = new Set<string>();
  for (let at: Node | undefined = from; at; at = at.run.parentRunId === null ? undefined : nodes.get(at.run.parentRunId)) {
    if (at === to || passed.has(at.run.runId)) return true;
    passed.add(at.run.runId);
  }
  return false;
}

export function Runs({ id }: { id: string }) {
  happenings.value;
  const w = words.value;
  const roots = tree(runsOf(id));
  return (
    <section class="runs" aria-labelledby="runs-heading" tabIndex={0}>
      <h3 id="runs-heading">{w.runsHeading}</h3>
      {roots.length === 0 ? <p class="faint">{w.noRuns}</p> : <RunList nodes={roots.slice(0, kRootsShown)} />}
      {roots.length > kRootsShown && <p class="faint">{w.olderRuns(roots.length - kRootsShown)}</p>}
    </section>
  );
}

function RunList({ nodes }: { nodes: readonly Node[] }) {
  return (
    <ul class="run-list">
      {nodes.map(({ run, children }) => (
        <li key={run.runId}>
          <OneRun run={run} />
          {children.length > 0 && <RunList nodes={children} />}
        </li>
      ))}
    </ul>
  );
}

function plain(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function OneRun({ run }: { run: Run }) {
  const w = words.value;
  const lasted = run.durationMs ?? (run.state === 'running' && run.startedAt ? now.value - Date.parse(run.startedAt) : null);
  const total = run.totalTokens ?? run.tokens;
  const facts = [
    run.startedBy && starterWord(w, run.startedBy),
    lasted !== null && formatDuration(lasted),
    total !== null && w.tokensOf(formatAmount(total)),
    total !== null && run.tokens !== null && run.tokens !== total && w.ofWhichOwn(formatAmount(run.tokens)),
    run.llmCalls && w.llmCalls(run.llmCalls),
    run.toolCalls && w.toolCalls(run.toolCalls),
  ].filter((fact): fact is string => typeof fact === 'string');
  const faults = [...new Set([run.failure, plain(run.cause), plain(run.error)].filter((fault) => fault !== null && fault !== ''))];
  return (
    <div class="run" data-run-id={run.runId}>
      <p class="run-head">
        <RunChip state={run.state} />
        {run.agent && (
          <strong>
            <bdi>{run.agent}</bdi>
          </strong>
        )}
        {run.outcome && (
          <span class="outcome">
            <bdi>{run.outcome}</bdi>
          </span>
        )}
        {run.startedAt && (
          <time dateTime={run.startedAt} title={formatFullTime(run.startedAt)}>
            {formatTime(run.startedAt, now.value)}
          </time>
        )}
      </p>
      <p class="run-facts">{facts.join(' · ')}</p>
      {faults.length > 0 && (
        <p class="fault">
          <bdi>{faults.join(' — ')}</bdi>
        </p>
      )}
      {run.steps && run.steps.length > 0 && <Steps steps={run.steps} dropped={run.dropped ?? 0} />}
    </div>
  );
}

function Steps({ steps, dropped }: { steps: readonly Step[]; dropped: number }) {
  const w = words.value;
  return (
    <details class="steps">
      <summary>{w.steps(steps.length + dropped)}</summary>
      {dropped > 0 && <p class="faint">{w.stepsLeftOut(dropped)}</p>}
      <ol>
        {steps.map((step, index) => (
          <li key={index} data-ok={step.ok !== false}>
            <span class="kind">
              <bdi>{step.kind ?? '—'}</bdi>
            </span>
            <span class="step-name">
              <bdi>{step.name ?? '—'}</bdi>
            </span>
            {step.ok === false && (
              <span class="step-failed">
                <Mark of="cross" /> {w.stepFailed}
              </span>
            )}
            <span class="number">{step.ms !== null && step.ms !== undefined ? formatDuration(step.ms) : ''}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
