import { Mark, type MarkName } from '../shared/marks';
import { agentStateWord, toolStatusWord, words } from './words';

const agentMarks = new Map<string, MarkName>([
  ['stopped', 'square'],
  ['starting', 'halfRing'],
  ['ready', 'tick'],
  ['busy', 'play'],
  ['error', 'warning'],
]);

export function AgentChip({ state }: { state: string }) {
  return (
    <span class="chip" data-agent-state={state}>
      <Mark of={agentMarks.get(state) ?? 'dot'} />
      <span class="chip-word">{agentStateWord(words.value, state)}</span>
    </span>
  );
}

// On a running agent whose definition changed since it was started.
export function OutdatedChip() {
  return (
    <span class="chip" data-outdated>
      <Mark of="up" />
      <span class="chip-word">{words.value.outdated}</span>
    </span>
  );
}

const statusMarks = new Map<string, MarkName>([
  ['pending', 'ring'],
  ['in_progress', 'halfRing'],
  ['completed', 'tick'],
  ['failed', 'cross'],
]);

// Of a tool call or of a step of a plan.
export function StatusChip({ status }: { status: string }) {
  return (
    <span class="chip" data-status={status}>
      <Mark of={statusMarks.get(status) ?? 'dot'} />
      <span class="chip-word">{toolStatusWord(words.value, status)}</span>
    </span>
  );
}
