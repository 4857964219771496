import { Help } from '../shared/help';
import { AgentChip } from './chips';
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
  const legend = kStates.map((state) => ({ state, chip: <AgentChip state={state} />, meaning: w.legend[state] }));
  return <Help words={w} keys={keys} legend={legend} onClose={onClose} />;
}
