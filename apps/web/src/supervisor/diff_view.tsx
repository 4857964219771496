import { useMemo, useState } from 'preact/hooks';
import { formatCount } from '../shared/format';
import { compare, type DiffLine } from './diff_lines';
import type { Diff } from './rpc_types';
import { words } from './words';

const kLinesShown = 200;

const kSigns: Record<DiffLine['kind'], string> = { added: '+', removed: '−', same: ' ', gap: '' };

// What an edit changes, or would change: told by sign and by colour.
export function DiffView({ diff }: { diff: Diff }) {
  const w = words.value;
  const [all, setAll] = useState(false);
  const { lines, added, removed, exact } = useMemo(() => compare(diff.oldText, diff.newText), [diff.oldText, diff.newText]);
  const shown = all ? lines : lines.slice(0, kLinesShown);
  return (
    <figure class="diff">
      <figcaption>
        <code>
          <bdi>{diff.path}</bdi>
        </code>
        {diff.newFile && <span class="tag">{w.newFile}</span>}
        <span class="counts">
          <span class="plus">
            <span aria-hidden="true">+{formatCount(added)}</span>
            <span class="spoken">{w.linesAdded(added)}</span>
          </span>{' '}
          <span class="minus">
            <span aria-hidden="true">−{formatCount(removed)}</span>
            <span class="spoken">{w.linesRemoved(removed)}</span>
          </span>
        </span>
      </figcaption>
      {!exact && <p class="hint">{w.notCompared}</p>}
      <pre tabIndex={0}>
        {shown.map((line, index) => (
          <span key={index} class="diff-line" data-line={line.kind}>
            <span class="sign">{kSigns[line.kind]}</span>
            <span class="diff-text">
              {line.text}
              {'\n'}
            </span>
          </span>
        ))}
      </pre>
      {shown.length < lines.length && (
        <button type="button" class="button" onClick={() => setAll(true)}>
          {w.showAllLines(lines.length)}
        </button>
      )}
    </figure>
  );
}
