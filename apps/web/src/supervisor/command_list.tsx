import { useEffect, useRef } from 'preact/hooks';
import type { Command } from './rpc_types';
import { words } from './words';

const kShown = 50;

// Those that what is written may become: its beginning, then anywhere in the name. None once there is a second word.
export function matching(commands: readonly Command[], text: string): readonly Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(typed));
  const contains = commands.filter((command) => !begins.includes(command) && command.name.toLowerCase().includes(typed));
  return [...begins, ...contains].slice(0, kShown);
}

interface Props {
  id: string;
  commands: readonly Command[];
  chosen: string;
  take(command: Command): void;
}

// The keys stay in the text field, which names the chosen one; here is only what is seen and pressed.
export function CommandList({ id, commands, chosen, take }: Props) {
  const box = useRef<HTMLUListElement>(null);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <ul ref={box} id={id} class="command-list" role="listbox" aria-label={words.value.commands}>
      {commands.map((command) => (
        <li
          key={command.name}
          id={`${id}-${command.name}`}
          role="option"
          aria-selected={command.name === chosen}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(command)}
        >
          <code>
            /{command.name} {command.hint !== '' && <span class="faint">{command.hint}</span>}
          </code>
          <span class="faint">
            <bdi>{command.description}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}
