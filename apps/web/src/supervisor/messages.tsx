import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useFoot } from '../shared/following';
import { Mark } from '../shared/marks';
import { titleFor } from './agents';
import { why } from './faults';
import { MessageView } from './message_view';
import { tell } from './outcome';
import { pending } from './permissions';
import { cardId, PermissionCard } from './permission_card';
import { channelId, entries, loadOlder, more, talkingTo } from './talk';
import { words } from './words';

const kBottomPx = 32;

// Moved by whoever wants the newest to be shown, wherever the reader is.
export interface Scroller {
  toNewest(): void;
}

// The messages, oldest first. At the foot they follow what comes; scrolled up they stand still and a button says that
// there is more.
export function Messages({ scroller }: { scroller: { current: Scroller | null } }) {
  const w = words.value;
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const anchor = useRef<{ id: string; top: number } | null>(null);
  const seen = useRef(0);
  const foot = useFoot(box, kBottomPx);
  const [away, setAway] = useState(false);
  const [news, setNews] = useState(false);
  const list = entries.value;
  const first = list[0]?.id ?? '';
  const agent = talkingTo.value;

  const toNewest = () => {
    following.current = true;
    setAway(false);
    setNews(false);
    foot.show();
  };
  scroller.current = { toNewest };

  const note = () => {
    const shown = box.current;
    const top = shown?.querySelector<HTMLElement>('[data-message]');
    anchor.current = shown && top ? { id: top.dataset['message'] ?? '', top: top.offsetTop - shown.scrollTop } : null;
  };

  // What is put in above does not move what is being read.
  useLayoutEffect(() => {
    const shown = box.current;
    const before = anchor.current;
    if (shown && before && !following.current && before.id !== first) {
      const still = shown.querySelector<HTMLElement>(`[data-message="${CSS.escape(before.id)}"]`);
      if (still) shown.scrollTop = still.offsetTop - before.top;
    }
    note();
  }, [first]);

  // Whatever makes it longer: words, a card that opens, a narrower window.
  useEffect(() => {
    const shown = box.current;
    const inner = content.current;
    if (!shown || !inner) return;
    seen.current = inner.offsetHeight;
    const grown = new ResizeObserver(() => {
      if (following.current) foot.show();
      else if (inner.offsetHeight > seen.current) setNews(true);
      seen.current = inner.offsetHeight;
    });
    grown.observe(inner);
    grown.observe(shown);
    return () => grown.disconnect();
  }, []);

  const scrolled = () => {
    following.current = foot.scrolled() ?? following.current;
    setAway(!following.current);
    if (following.current) setNews(false);
    note();
  };

  return (
    <div class="messages-frame">
      {/* Read at leisure: what is finished is said by the page's one live region. */}
      <div ref={box} class="messages" role="log" aria-live="off" aria-label={w.conversation(titleFor(agent))} tabIndex={0} onScroll={scrolled}>
        <div ref={content} class="messages-inner">
          {more.value && <Older />}
          {list.length === 0 && <p class="nothing">{w.empty(titleFor(agent))}</p>}
          {list.map((entry) => (
            <MessageView key={entry.id} entry={entry} />
          ))}
          <Stray />
        </div>
      </div>
      {away && (
        <button type="button" class="button newer" onClick={toNewest}>
          <Mark of="down" /> {news ? w.newMessages : w.backToNewest}
        </button>
      )}
    </div>
  );
}

function Older() {
  const w = words.value;
  const [busy, setBusy] = useState(false);
  const load = async () => {
    if (busy) return;
    setBusy(true);
    try {
      await loadOlder();
    } catch (error) {
      tell((said) => said.noOlder(why(said, error)), true);
    }
    setBusy(false);
  };
  return (
    <p class="older">
      <button type="button" class="button" aria-disabled={busy ? 'true' : undefined} onClick={load}>
        <Mark of="down" /> {busy ? w.loadingOlder : w.older}
      </button>
    </p>
  );
}

// Questions of a message that is not here: they wait all the same.
function Stray() {
  const here = new Set(entries.value.map(({ id }) => id));
  const stray = [...pending.value.values()].filter(({ channel, messageId }) => channel === channelId.value && !here.has(messageId));
  return (
    <>
      {stray.map((permission) => (
        <PermissionCard key={permission.id} permission={permission} />
      ))}
    </>
  );
}

// Brings the first question of this conversation into sight, and the focus to it: not to one of its answers.
export function toQuestion(): void {
  const next = [...pending.peek().values()].find(({ channel }) => channel === channelId.peek());
  if (!next) return;
  const card = document.getElementById(cardId(next));
  card?.scrollIntoView({ block: 'nearest' });
  card?.focus({ preventScroll: true });
}

// Above the message one writes: whoever has scrolled away has to find the way.
export function QuestionBar() {
  const w = words.value;
  const count = [...pending.value.values()].filter(({ channel }) => channel === channelId.value).length;
  if (count === 0) return null;
  return (
    <p class="question-bar">
      <Mark of="diamond" /> <span>{w.questionsWait(count)}</span>
      <button type="button" class="button" onClick={toQuestion}>
        {w.show}
      </button>
    </p>
  );
}
