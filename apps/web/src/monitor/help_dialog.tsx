import { Modal } from '../shared/modal';
import { StateChip } from './chips';
import { letters } from './keys';
import { states } from './protocol';
import { words } from './words';

export function HelpDialog({ onClose }: { onClose(): void }) {
  const w = words.value;
  const keys: [string[], string][] = [
    [['j', 'k', '↓', '↑'], w.keys.move],
    [['Home', 'End'], w.keys.ends],
    [['←', '→'], w.keys.across],
    [['Enter'], w.keys.open],
    [['/'], w.keys.filter],
    [['Esc'], w.keys.close],
    [['?'], w.keys.help],
  ];
  return (
    <Modal title={w.help} close={w.close} onClose={onClose}>
      <div class="help">
        <h3>{w.keysTitle}</h3>
        <dl class="keys">
          {keys.map(([names, meaning]) => (
            <div key={meaning}>
              <dt>
                {names.map((name) => (
                  <kbd key={name}>{name}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label class="switch">
          <input
            type="checkbox"
            checked={letters.value === 'on'}
            aria-describedby="letters-hint"
            onChange={({ currentTarget }) => (letters.value = currentTarget.checked ? 'on' : 'off')}
          />
          <span>{w.letters}</span>
        </label>
        <p id="letters-hint" class="hint">
          {w.lettersHint}
        </p>
        <h3>{w.legendTitle}</h3>
        <dl class="legend">
          {states.map((state) => (
            <div key={state}>
              <dt>
                <StateChip state={state} />
              </dt>
              <dd>{w.legend[state]}</dd>
            </div>
          ))}
        </dl>
        <p>{w.dashes}</p>
        <p>
          <a href="./third-party-notices.txt">{w.notices}</a>
        </p>
      </div>
    </Modal>
  );
}
