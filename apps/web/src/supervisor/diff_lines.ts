import { structuredPatch } from 'diff';

// Beyond these, finding the shortest way from one text to the other would take longer than anybody waits.
const kCharacters = 400_000;
const kEdits = 2_000;
const kMs = 250;

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'gap';
  text: string;
}

export interface Compared {
  lines: readonly DiffLine[];
  added: number;
  removed: number;
  // False where the texts were too long or too different: then `lines` is the whole of both.
  exact: boolean;
}

function whole(oldText: string, newText: string): Compared {
  const cut = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
  const removed = cut(oldText).map((text): DiffLine => ({ kind: 'removed', text }));
  const added = cut(newText).map((text): DiffLine => ({ kind: 'added', text }));
  return { lines: [...removed, ...added], added: added.length, removed: removed.length, exact: false };
}

// Unified: three lines of what stayed around each change, and a gap between changes that are apart.
export function compare(oldText: string, newText: string): Compared {
  if (oldText === '' || newText === '') return { ...whole(oldText, newText), exact: true };
  if (oldText.length + newText.length > kCharacters) return whole(oldText, newText);
  const patch = structuredPatch('', '', oldText, newText, '', '', { context: 3, maxEditLength: kEdits, timeout: kMs });
  if (!patch) return whole(oldText, newText);
  const lines: DiffLine[] = [];
  let added = 0;
  let removed = 0;
  for (const hunk of patch.hunks) {
    if (hunk.oldStart > 1 || hunk.newStart > 1) lines.push({ kind: 'gap', text: `@@ -${hunk.oldStart} +${hunk.newStart} @@` });
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line[0] === '+') {
        added++;
        lines.push({ kind: 'added', text });
      } else if (line[0] === '-') {
        removed++;
        lines.push({ kind: 'removed', text });
      } else if (line[0] === ' ') {
        lines.push({ kind: 'same', text });
      }
    }
  }
  return { lines, added, removed, exact: true };
}
