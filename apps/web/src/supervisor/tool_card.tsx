import { Capped } from './capped';
import { StatusChip } from './chips';
import { DiffView } from './diff_view';
import type { Location, ToolCall } from './rpc_types';
import { toolKindWord, words } from './words';

const kPrettyCharacters = 100_000;

// Compact JSON as a person reads it. What is no JSON, or too long to be worth it, comes back as it was written.
function pretty(input: string): string {
  if (input.length > kPrettyCharacters) return input;
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

function placeOf({ path, line }: Location): string {
  return line === undefined ? path : `${path}:${line}`;
}

export function Locations({ locations }: { locations: readonly Location[] }) {
  if (locations.length === 0) return null;
  return (
    <ul class="locations" aria-label={words.value.locations}>
      {locations.map((location, index) => (
        <li key={index}>
          <code>
            <bdi>{placeOf(location)}</bdi>
          </code>
        </li>
      ))}
    </ul>
  );
}

export function ToolInput({ input }: { input: string }) {
  if (input === '') return null;
  return (
    <div class="tool-text">
      <p class="label">{words.value.input}</p>
      <Capped text={pretty(input)} />
    </div>
  );
}

export function Diffs({ tool }: { tool: ToolCall }) {
  return (
    <>
      {tool.diffs.map((diff, index) => (
        <DiffView key={`${index} ${diff.path}`} diff={diff} />
      ))}
    </>
  );
}

// What an agent does beside talking. Folded: what it changes stays in sight, what it read and wrote does not.
export function ToolCard({ tool }: { tool: ToolCall }) {
  const w = words.value;
  const bare = tool.input === '' && tool.output === '' && tool.locations.length === 0;
  const head = (
    <>
      <StatusChip status={tool.status} />
      <span class="tool-kind">{toolKindWord(w, tool.kind)}</span>
      <span class="tool-title">
        <bdi>{tool.title || tool.id}</bdi>
      </span>
    </>
  );
  return (
    <div role="group" class="part-card tool" data-tool={tool.id} data-status={tool.status} aria-label={w.toolCall(tool.title || tool.id)}>
      {bare ? (
        <p class="tool-head">{head}</p>
      ) : (
        <details>
          <summary class="tool-head">{head}</summary>
          <div class="tool-body">
            <Locations locations={tool.locations} />
            <ToolInput input={tool.input} />
            {tool.output !== '' && (
              <div class="tool-text">
                <p class="label">{w.output}</p>
                <Capped text={tool.output} />
              </div>
            )}
          </div>
        </details>
      )}
      <Diffs tool={tool} />
    </div>
  );
}
