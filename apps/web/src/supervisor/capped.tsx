import { useState } from 'preact/hooks';
import { formatCount } from '../shared/format';
import { words } from './words';

const kCharacters = 4_000;
const kLines = 40;

// The beginning of a text, cut where it is long, at the end of a line where there is one.
function beginning(text: string): string {
  let end = Math.min(text.length, kCharacters);
  let at = -1;
  for (let line = 0; line < kLines; line++) {
    at = text.indexOf('\n', at + 1);
    if (at < 0 || at >= end) return text.slice(0, end);
  }
  end = at;
  return text.slice(0, end);
}

// Text as it came, in a box; a long one is shown as a whole when asked.
export function Capped({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const w = words.value;
  const shown = all ? text : beginning(text);
  return (
    <div class="capped">
      <pre tabIndex={0} dir="auto">
        {shown}
      </pre>
      {shown.length < text.length && (
        <button type="button" class="button" onClick={() => setAll(true)}>
          {w.showAll(formatCount(text.length))}
        </button>
      )}
    </div>
  );
}
