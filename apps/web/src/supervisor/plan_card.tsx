import { useEffect, useRef } from 'preact/hooks';
import { StatusChip } from './chips';
import type { PlanEntry } from './rpc_types';
import { words } from './words';

// The steps an agent set itself. Folds when the last one is done; whoever wants to opens it again.
export function PlanCard({ entries }: { entries: readonly PlanEntry[] }) {
  const w = words.value;
  const done = entries.filter(({ status }) => status === 'completed').length;
  const over = done === entries.length;
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (box.current) box.current.open = !over;
  }, [over]);
  return (
    <div role="group" class="part-card plan" aria-label={w.plan}>
      <details ref={box}>
        <summary>
          <strong>{w.plan}</strong> <span class="faint">{w.stepsDone(done, entries.length)}</span>
        </summary>
        <ol>
          {entries.map(({ content, priority, status }, index) => (
            <li key={index}>
              <StatusChip status={status} />
              <span class="step">
                <bdi>{content}</bdi>
                {priority === 'high' && <span class="tag">{w.important}</span>}
              </span>
            </li>
          ))}
        </ol>
      </details>
    </div>
  );
}
