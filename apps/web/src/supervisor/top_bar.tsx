import { LanguageChoice, ThemeChoice } from '../shared/choices';
import { Mark } from '../shared/marks';
import { Pill } from '../shared/pill';
import { current } from './agents';
import { connection } from './connection';
import { dialog } from './dialogs';
import { narrow } from './narrow';
import { words } from './words';

export function TopBar() {
  const w = words.value;
  const drawers = narrow.value && connection.value !== 'refused';
  return (
    <header class="top">
      <h1>
        <Mark of="clock" /> watchbill
      </h1>
      <Pill state={connection.value} names={w.connection} />
      {drawers && (
        <button type="button" class="button" aria-haspopup="dialog" onClick={() => (dialog.value = 'agents')}>
          {w.agents}
        </button>
      )}
      {drawers && current.value && (
        <button type="button" class="button" aria-haspopup="dialog" onClick={() => (dialog.value = 'about')}>
          {w.details}
        </button>
      )}
      <span class="spring" />
      <LanguageChoice label={w.language} />
      <ThemeChoice label={w.theme} names={w.themes} />
      <button type="button" class="button" aria-label={w.help} title={w.help} onClick={() => (dialog.value = 'help')}>
        ?
      </button>
    </header>
  );
}
