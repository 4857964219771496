import type { RefObject } from 'preact';
import { formatCount } from '../shared/format';
import { Mark } from '../shared/marks';
import { stateMark } from './chips';
import { revision, rows } from './fleet';
import { states } from './protocol';
import { clearFilters, counts, shownIds, text, toggleState, wanted } from './view';
import { stateWord, words } from './words';

export function Filters({ field }: { field: RefObject<HTMLInputElement | null> }) {
  const w = words.value;
  const found = counts.value;
  // A state that only a later monitor knows is still counted, and can be filtered for.
  const all = [...states, ...[...found.keys(), ...wanted.value].filter((state, index, them) => !states.some((known) => known === state) && them.indexOf(state) === index)];
  return (
    <search class="filters">
      <input
        ref={field}
        type="search"
        class="field"
        aria-label={w.filter}
        placeholder={w.filterHint}
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <div class="state-filters" role="group" aria-label={w.filterStates}>
        {all.map((state) => {
          const count = found.get(state) ?? 0;
          const pressed = wanted.value.has(state);
          return (
            <button
              key={state}
              type="button"
              class={count === 0 && !pressed ? 'filter none' : 'filter'}
              data-state={state}
              aria-pressed={pressed}
              onClick={() => toggleState(state)}
            >
              <Mark of={stateMark(state)} />
              <bdi>{stateWord(w, state)}</bdi>
              <span class="count">{formatCount(count)}</span>
            </button>
          );
        })}
      </div>
    </search>
  );
}

export function Shown() {
  const w = words.value;
  revision.value;
  const filtered = text.value !== '' || wanted.value.size > 0;
  return (
    <div class="shown">
      {filtered && (
        <button type="button" class="button quiet" onClick={clearFilters}>
          {w.clear}
        </button>
      )}
      <span class="how-many">{w.shownOf(shownIds.value.length, rows.size)}</span>
    </div>
  );
}
