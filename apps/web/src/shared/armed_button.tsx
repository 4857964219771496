import { useEffect, useRef, useState } from 'preact/hooks';

const kArmedMs = 5_000;

interface Props {
  label: string;
  // Shown in the same place and size while armed.
  again: string;
  // What the two presses are about, for who does not see the row.
  about: string;
  // Why it is not offered; null when it is.
  refusal: string | null;
  refusalId?: string;
  tabIndex?: number;
  act(): void;
  refused?(why: string): void;
  // Says that it is armed; what comes back takes that word back when it is so no more.
  armed?(): () => void;
}

// A button for what cannot be taken back: the first press arms it for five seconds, the second acts. Leaving it or
// Escape disarms. Both labels lie in one grid cell, so that the second press lands where the first one did.
export function ArmedButton(props: Props) {
  const [armed, setArmed] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const unsay = useRef<(() => void) | undefined>(undefined);
  const { refusal } = props;
  useEffect(() => {
    if (!armed) return;
    const timer = setTimeout(() => setArmed(false), kArmedMs);
    return () => {
      clearTimeout(timer);
      unsay.current?.();
    };
  }, [armed]);
  useEffect(() => {
    if (refusal !== null) setArmed(false);
  }, [refusal]);
  const pressed = (event: Event) => {
    event.stopPropagation();
    if (refusal !== null) return props.refused?.(refusal);
    // Safari does not focus a pressed button, and what was never focused is never blurred.
    button.current?.focus();
    if (armed) props.act();
    else unsay.current = props.armed?.();
    setArmed(!armed);
  };
  return (
    <button
      ref={button}
      type="button"
      class={armed ? 'button danger armed' : 'button danger'}
      tabIndex={props.tabIndex ?? 0}
      aria-label={`${armed ? props.again : props.label}: ${props.about}`}
      aria-disabled={refusal !== null ? 'true' : undefined}
      aria-describedby={refusal !== null ? props.refusalId : undefined}
      title={refusal ?? undefined}
      onClick={pressed}
      onBlur={() => setArmed(false)}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && armed) {
          event.stopPropagation();
          setArmed(false);
        }
      }}
    >
      <span class="either" aria-hidden="true">
        <span data-shown={!armed}>{props.label}</span>
        <span data-shown={armed}>{props.again}</span>
      </span>
    </button>
  );
}
