import type { ComponentChildren } from 'preact';
import { letters } from './letters';
import { Modal } from './modal';

export interface HelpWords {
  help: string;
  close: string;
  keysTitle: string;
  letters: string;
  lettersHint: string;
  legendTitle: string;
  notices: string;
}

interface Parts {
  words: HelpWords;
  // Keys that do the same, and what they do.
  keys: readonly [names: readonly string[], meaning: string][];
  // What a state looks like, and what it means.
  legend: readonly { state: string; chip: ComponentChildren; meaning: string }[];
  onClose(): void;
  // Below the states.
  children?: ComponentChildren;
}

// The dialog of the keys and the states.
export function Help({ words: w, keys, legend, onClose, children }: Parts) {
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
          {legend.map(({ state, chip, meaning }) => (
            <div key={state}>
              <dt>{chip}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        {children}
        <p>
          <a href="./third-party-notices.txt">{w.notices}</a>
        </p>
      </div>
    </Modal>
  );
}
