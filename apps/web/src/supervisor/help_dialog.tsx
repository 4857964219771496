import { Modal } from '../shared/modal';
import { AgentChip } from './chips';
import { letters } from './keys';
import type { AgentState } from './rpc_types';
import { words } from './words';

const kStates: AgentState[] = ['stopped', 'starting', 'ready', 'busy', 'error'];

export function HelpDialog({ onClose }: { onClose(): void }) {
  const w = words.value;
  const keys: [string[], string][] = [
    [['j', 'k'], w.keys.move],
    [['c'], w.keys.composer],
    [['p'], w.keys.question],
    [['Enter'], w.keys.send],
    [['Shift', 'Enter'], w.keys.newline],
    [['/'], w.keys.commands],
    [['Esc'], w.keys.stop],
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
          {kStates.map((state) => (
            <div key={state}>
              <dt>
                <AgentChip state={state} />
              </dt>
              <dd>{w.legend[state]}</dd>
            </div>
          ))}
        </dl>
        <p>
          <a href="./third-party-notices.txt">{w.notices}</a>
        </p>
      </div>
    </Modal>
  );
}
