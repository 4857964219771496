import { connect, knocking } from './connection';
import { words } from './words';

export function SignedOut() {
  const w = words.value;
  return (
    <section class="card signed-out" id="conversation" tabIndex={-1} aria-labelledby="signed-out-title">
      <h2 id="signed-out-title">{w.signedOutTitle}</h2>
      <p>{w.signedOutLead}</p>
      <code class="dial">{new URL('open/…', document.baseURI).origin}/open/…</code>
      <p>{w.signedOutThen}</p>
      <p>
        <code class="dial">watchbill-supervisor serve</code>
      </p>
      <p>
        <button type="button" class="button primary" aria-disabled={knocking.value ? 'true' : undefined} onClick={() => void connect()}>
          {w.knock}
        </button>
      </p>
    </section>
  );
}
