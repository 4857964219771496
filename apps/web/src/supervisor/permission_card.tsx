import { useState } from 'preact/hooks';
import { Mark } from '../shared/marks';
import { titleFor } from './agents';
import { connection } from './connection';
import { why } from './faults';
import { announce } from './outcome';
import { answer, answered, pending, type Answered } from './permissions';
import type { Permission, PermissionOption } from './rpc_types';
import { Diffs, Locations, ToolInput } from './tool_card';
import { optionKindWord, toolKindWord, words } from './words';

// The cautious ones first, so that the first button that the keyboard comes to allows nothing.
const kOrder = ['reject_once', 'reject_always', 'allow_once', 'allow_always'];

function inOrder(options: readonly PermissionOption[]): PermissionOption[] {
  const place = ({ kind }: PermissionOption) => (kOrder.includes(kind) ? kOrder.indexOf(kind) : kOrder.length);
  return [...options].sort((a, b) => place(a) - place(b));
}

export function cardId(permission: Permission): string {
  return `permission-${permission.id}`;
}

// A question to a person. Nothing in it is chosen beforehand, nothing answers it by itself, and it takes no focus.
export function PermissionCard({ permission }: { permission: Permission }) {
  const w = words.value;
  const [asking, setAsking] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const { toolCall, options, rejections } = permission;
  const live = connection.value === 'live';
  const title = toolCall.title || toolCall.id;
  const choose = async (option: PermissionOption) => {
    if (asking || !live) return;
    setAsking(true);
    setFault(null);
    try {
      await answer(permission, option);
      announce((said) => said.answeredWith(option.name));
      document.querySelector<HTMLElement>('.composer textarea')?.focus();
    } catch (error) {
      setFault(error);
    }
    setAsking(false);
  };
  return (
    <div role="group" class="permission" id={cardId(permission)} tabIndex={-1} aria-labelledby={`${cardId(permission)}-title`}>
      <h3 id={`${cardId(permission)}-title`}>
        <Mark of="diamond" /> <bdi>{w.asksTo(titleFor(permission.agent))}</bdi>
      </h3>
      <p class="permission-what">
        <span class="tool-kind">{toolKindWord(w, toolCall.kind)}</span>{' '}
        <strong>
          <bdi>{title}</bdi>
        </strong>
      </p>
      {rejections > 0 && (
        <p class="permission-again">
          <Mark of="warning" /> {w.refusedBefore(rejections)}
        </p>
      )}
      <Locations locations={toolCall.locations} />
      <ToolInput input={toolCall.input} />
      <Diffs tool={toolCall} />
      <div class="options">
        {inOrder(options).map((option) => (
          <button
            key={option.optionId}
            type="button"
            class="button option"
            data-kind={option.kind}
            aria-disabled={asking || !live ? 'true' : undefined}
            onClick={() => choose(option)}
          >
            <span class="option-name">
              <bdi>{option.name}</bdi>
            </span>{' '}
            <span class="option-kind">{optionKindWord(w, option.kind)}</span>
          </button>
        ))}
      </div>
      {fault !== null && (
        <p class="fault" role="alert">
          {why(w, fault)}
        </p>
      )}
    </div>
  );
}

// What stays of a question once it is over.
function AnsweredLine({ permission, option }: Answered) {
  const w = words.value;
  const title = permission.toolCall.title || permission.toolCall.id;
  const refused = option?.kind.startsWith('reject') ?? true;
  return (
    <p class="answered" data-refused={refused}>
      <Mark of={option ? (refused ? 'cross' : 'tick') : 'dot'} />{' '}
      <span>
        <bdi>{option ? w.youAnswered(title, option.name) : w.answeredElsewhere(title)}</bdi>
      </span>
    </p>
  );
}

// The questions about one tool call of a message, or, with null, those about none of `tools`.
export function Questions({ messageId, toolId, tools }: { messageId: string; toolId: string | null; tools?: ReadonlySet<string> }) {
  const mine = (permission: Permission) =>
    permission.messageId === messageId && (toolId === null ? !tools?.has(permission.toolCall.id) : permission.toolCall.id === toolId);
  return (
    <>
      {answered.value
        .filter(({ permission }) => mine(permission))
        .map((over) => (
          <AnsweredLine key={over.permission.id} {...over} />
        ))}
      {[...pending.value.values()].filter(mine).map((permission) => (
        <PermissionCard key={permission.id} permission={permission} />
      ))}
    </>
  );
}
