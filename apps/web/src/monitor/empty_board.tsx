import { tell } from './commands';
import { dialog } from './dialogs';
import { words } from './words';

export function EmptyBoard() {
  const w = words.value;
  const line = `MONITOR_URL=${new URL('.', document.baseURI).href.replace(/\/$/, '')}`;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(line);
      tell((said) => said.copied);
    } catch {
      tell((said) => said.notCopied, true);
    }
  };
  return (
    <section class="card empty" id="agents" tabIndex={-1} aria-labelledby="empty-title">
      <h2 id="empty-title">{w.emptyTitle}</h2>
      <p>{w.emptyLead}</p>
      <div class="form-input">
        <code class="dial">{line}</code>
        <button type="button" class="button" onClick={copy}>
          {w.copy}
        </button>
      </div>
      <p>{w.emptyThen}</p>
      <p>
        <button type="button" class="button primary" onClick={() => (dialog.value = { kind: 'entry', entry: null })}>
          {w.add}
        </button>
      </p>
    </section>
  );
}
