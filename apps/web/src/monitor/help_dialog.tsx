import { Help } from '../shared/help';
import { StateChip } from './chips';
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
  const legend = states.map((state) => ({ state, chip: <StateChip state={state} />, meaning: w.legend[state] }));
  return (
    <Help words={w} keys={keys} legend={legend} onClose={onClose}>
      <p>{w.dashes}</p>
    </Help>
  );
}
