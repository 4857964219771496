import { useRef, useState } from 'preact/hooks';
import { Modal } from '../shared/modal';
import { newId } from '../shared/new_id';
import { keyIn, type Entry } from './agent_list';
import { tell } from './commands';
import { whyRefused } from './refusal';
import { words } from './words';

const kFields = ['id', 'name', 'folder', 'host', 'note'] as const;
type Field = (typeof kFields)[number];

const kIdForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const kNothing: Entry = { id: '', name: '', folder: '', host: '', note: '' };

interface Fault {
  // Null when it is about none of the fields.
  field: Field | null;
  text: string;
}

// Keys an agent in, or changes what the board's own list says of one: then `entry` is what it says now.
export function EntryDialog({ entry, onClose }: { entry: Entry | null; onClose(): void }) {
  const w = words.value;
  const [said, setSaid] = useState<Entry>(entry ?? kNothing);
  const [fault, setFault] = useState<Fault | null>(null);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  const point = (found: Fault) => {
    setFault(found);
    if (found.field) form.current?.querySelector<HTMLElement>(`#entry-${found.field}`)?.focus();
  };

  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    if (said.id.trim() === '') return point({ field: 'id', text: w.needed });
    if (!kIdForm.test(said.id.trim())) return point({ field: 'id', text: w.badId });
    if (said.name.trim() === '') return point({ field: 'name', text: w.needed });
    setBusy(true);
    const refused = await keyIn(said);
    setBusy(false);
    if (refused) return point({ field: kFields.find((name) => name === refused.field) ?? null, text: whyRefused(w, refused) });
    const name = said.name.trim();
    tell((then) => then.saved(name));
    onClose();
  };

  return (
    <Modal title={entry ? w.editTitle : w.addTitle} close={w.close} onClose={onClose}>
      <form ref={form} class="form" noValidate onSubmit={submit}>
        <p class="faint">{w.addHint}</p>
        {kFields.map((name) => {
          const hint = name === 'id' || name === 'folder' || name === 'host' ? w.fieldHint[name] : null;
          const wrong = fault?.field === name ? fault.text : null;
          const described = [hint && `hint-${name}`, wrong && `fault-${name}`].filter(Boolean).join(' ');
          return (
            <div key={name} class="form-field">
              <label for={`entry-${name}`}>{w.field[name]}</label>
              <div class="form-input">
                <input
                  id={`entry-${name}`}
                  class="field"
                  type="text"
                  value={said[name]}
                  required={name === 'id' || name === 'name'}
                  // The id says which entry is meant.
                  readOnly={name === 'id' && entry !== null}
                  spellcheck={false}
                  autocomplete="off"
                  aria-invalid={wrong ? 'true' : undefined}
                  aria-describedby={described === '' ? undefined : described}
                  onInput={({ currentTarget }) => {
                    const { value } = currentTarget;
                    setSaid((before) => ({ ...before, [name]: value }));
                    if (fault?.field === name) setFault(null);
                  }}
                />
                {name === 'id' && entry === null && (
                  <button type="button" class="button" onClick={() => setSaid((before) => ({ ...before, id: newId() }))}>
                    {w.makeId}
                  </button>
                )}
              </div>
              {hint && (
                <p id={`hint-${name}`} class="hint">
                  {hint}
                </p>
              )}
              {wrong && (
                <p id={`fault-${name}`} class="fault" role="alert">
                  {wrong}
                </p>
              )}
            </div>
          );
        })}
        {fault && fault.field === null && (
          <p class="fault" role="alert">
            {fault.text}
          </p>
        )}
        <div class="form-end">
          <button type="button" class="button" onClick={onClose}>
            {w.cancel}
          </button>
          <button type="submit" class="button primary" aria-disabled={busy ? 'true' : undefined}>
            {w.save}
          </button>
        </div>
      </form>
    </Modal>
  );
}
