import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Mark } from '../shared/marks';
import { commandsOf, titleFor } from './agents';
import { CommandList, matching } from './command_list';
import { connection } from './connection';
import { draftOf } from './drafts';
import { why } from './faults';
import { tell } from './outcome';
import { cancel, channelId, send, turn } from './talk';
import { words } from './words';

// What sends the reader to the newest message: whoever writes wants to see what comes of it.
export interface ComposerProps {
  agent: string;
  sent(): void;
}

export function focusComposer(): void {
  document.querySelector<HTMLElement>('.composer textarea')?.focus();
}

export function Composer({ agent, sent }: ComposerProps) {
  const w = words.value;
  const draft = draftOf(agent);
  const text = draft.value;
  const { busy } = turn.value;
  const [fault, setFault] = useState<unknown>(null);
  const [closed, setClosed] = useState(false);
  const [at, setAt] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const stop = useRef<HTMLButtonElement>(null);
  const list = useId();
  const name = titleFor(agent);
  const ready = connection.value === 'live' && channelId.value !== '';
  const found = closed ? [] : matching(commandsOf(agent).value, text);
  const chosen = found[Math.min(at, found.length - 1)];

  // As high as what is written in it, within the bounds of the style sheet.
  useLayoutEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = 'auto';
    box.style.height = `${box.scrollHeight + 2}px`;
  }, [text]);

  const write = (next: string) => {
    draft.value = next;
    setFault(null);
    setAt(0);
    if (!next.startsWith('/')) setClosed(false);
  };

  const take = (command: { name: string }) => {
    write(`/${command.name} `);
    setClosed(false);
    field.current?.focus();
  };

  const submit = async () => {
    const message = draft.peek().trim();
    if (message === '') return;
    if (!ready) return tell((said) => said.notSent(said.fault.disconnected), true);
    write('');
    setClosed(false);
    sent();
    try {
      await send(message);
    } catch (error) {
      // What could not be sent is not lost, and what was written meanwhile is not either.
      draft.value = draft.peek() === '' ? message : `${message}\n${draft.peek()}`;
      setFault(error);
    }
  };

  const stopIt = async () => {
    field.current?.focus();
    try {
      await cancel();
    } catch (error) {
      tell((said) => said.notStopped(why(said, error)), true);
    }
  };

  const pressed = (event: KeyboardEvent) => {
    // 229: the key belongs to an input method, also in the browsers that say so no other way.
    if (event.isComposing || event.keyCode === 229) return;
    if (chosen) {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (step !== 0) {
        event.preventDefault();
        setAt((Math.min(at, found.length - 1) + step + found.length) % found.length);
        return;
      }
      if (event.key === 'Escape') {
        event.preventDefault();
        setClosed(true);
        return;
      }
      const whole = text === `/${chosen.name}`;
      if ((event.key === 'Tab' && !event.shiftKey) || (event.key === 'Enter' && !event.shiftKey && !whole)) {
        event.preventDefault();
        take(chosen);
        return;
      }
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void submit();
    }
    if (event.key === 'Escape') stop.current?.focus();
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TurnLine />
      {found.length > 0 && chosen && <CommandList id={list} commands={found} chosen={chosen.name} take={take} />}
      <span class="spoken" role="status">
        {w.commandsFound(found.length)}
      </span>
      <div class="composer-box">
        <textarea
          ref={field}
          rows={1}
          value={text}
          dir="auto"
          aria-label={w.composer(name)}
          aria-describedby="composer-hint"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={found.length > 0 ? list : undefined}
          aria-activedescendant={chosen ? `${list}-${chosen.name}` : undefined}
          placeholder={w.placeholder(name)}
          onInput={({ currentTarget }) => write(currentTarget.value)}
          onKeyDown={pressed}
          onBlur={() => setClosed(true)}
          onFocus={() => setClosed(false)}
        />
        {busy && (
          <button ref={stop} type="button" class="button danger stop" aria-label={w.stopAnswer(name)} onClick={stopIt}>
            <Mark of="square" /> {w.stop}
          </button>
        )}
        <button type="submit" class="button primary send" aria-disabled={ready && text.trim() !== '' ? undefined : 'true'}>
          <Mark of="up" /> {w.send}
        </button>
      </div>
      <p id="composer-hint" class="hint">
        {w.composerHint}
      </p>
      {fault !== null && (
        <p class="fault" role="alert">
          {w.notSent(why(w, fault))}
        </p>
      )}
    </form>
  );
}

// Who answers, and how many messages wait for it.
function TurnLine() {
  const w = words.value;
  const { busy, queued, answering } = turn.value;
  if (!busy && queued === 0) return null;
  return (
    <p class="turn-line">
      <Mark of="play" /> <bdi>{answering !== '' ? w.answering(titleFor(answering)) : w.busyNow}</bdi>
      {queued > 0 && <span class="faint"> {w.queuedCount(queued)}</span>}
    </p>
  );
}
