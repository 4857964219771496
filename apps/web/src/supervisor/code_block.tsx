import { useEffect, useState } from 'preact/hooks';
import { Mark } from '../shared/marks';
import { announce, tell } from './outcome';
import { words } from './words';

const kThanksMs = 2_000;

export function CodeBlock({ text, language }: { text: string; language: string }) {
  const w = words.value;
  return (
    <figure class="code">
      <figcaption>
        <bdi>{language}</bdi>
        <CopyButton text={text} label={language === '' ? w.copyCode : w.copyCodeOf(language)} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

// `label` says what is copied, to whom the place of the button says nothing.
export function CopyButton({ text, label }: { text: string; label: string }) {
  const w = words.value;
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), kThanksMs);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      announce((said) => said.copied);
    } catch {
      tell((said) => said.notCopied, true);
    }
  };
  return (
    <button type="button" class="button quiet copy" aria-label={label} onClick={copy}>
      {done ? <Mark of="tick" /> : null} {done ? w.copied : w.copy}
    </button>
  );
}
