import { useRef, useState } from 'preact/hooks';
import { signIn } from './agent_list';
import { connect } from './commands';
import { whyRefused } from './refusal';
import { words } from './words';

export function SignIn() {
  const w = words.value;
  const [token, setToken] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (token === '') {
      setFault(w.needed);
      return field.current?.focus();
    }
    const refused = await signIn(token);
    if (!refused) return connect();
    setFault(refused.status === 401 ? w.wrongToken : whyRefused(w, refused));
    field.current?.select();
  };
  return (
    <form class="form card" id="agents" tabIndex={-1} noValidate onSubmit={submit}>
      <h2>{w.signInTitle}</h2>
      <p class="faint">{w.signInLead}</p>
      <div class="form-field">
        <label for="token">{w.token}</label>
        <div class="form-input">
          <input
            ref={field}
            id="token"
            class="field"
            type="password"
            autocomplete="current-password"
            value={token}
            aria-invalid={fault ? 'true' : undefined}
            aria-describedby={fault ? 'token-fault' : undefined}
            onInput={({ currentTarget }) => {
              setToken(currentTarget.value);
              setFault(null);
            }}
          />
          <button type="submit" class="button primary">
            {w.signIn}
          </button>
        </div>
        {fault && (
          <p id="token-fault" class="fault" role="alert">
            {fault}
          </p>
        )}
      </div>
    </form>
  );
}
