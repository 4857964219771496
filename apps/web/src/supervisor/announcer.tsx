import { titleFor } from './agents';
import { announce, announcement } from './outcome';
import { onAsked } from './permissions';
import type { Message } from './rpc_types';
import { onFinished } from './talk';
import { selected } from './address';
import { stopWord, words } from './words';

const kSpoken = 600;

function spoken({ parts }: Message): string {
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join(' ').trim();
  return text.length > kSpoken ? `${text.slice(0, kSpoken)}…` : text;
}

// An answer is said when it is finished: word by word it would be noise.
onFinished((message) => {
  const { agent, error, stopReason } = message;
  announce((w) => {
    if (error !== '') return w.announceEnded(titleFor(agent), error);
    if (stopReason !== '' && stopReason !== 'end_turn') return w.announceEnded(titleFor(agent), stopWord(w, stopReason));
    return w.announceDone(titleFor(agent), spoken(message));
  });
});

onAsked(({ agent, toolCall }) => announce((w) => w.announceAsked(titleFor(agent), toolCall.title || toolCall.id)));

// What was said of one conversation is not said again in the next.
selected.subscribe(() => announce(() => ''));

export function Announcer() {
  return (
    <p class="spoken" role="status" aria-live="polite" data-announcer>
      {announcement.value(words.value)}
    </p>
  );
}
