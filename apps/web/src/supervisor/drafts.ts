import { signal, type Signal } from '@preact/signals';

const kPrefix = 'watchbill.draft.';

const drafts = new Map<string, Signal<string>>();

function keptText(agent: string): string {
  try {
    return sessionStorage.getItem(kPrefix + agent) ?? '';
  } catch {
    return '';
  }
}

// What was written to an agent and not sent, for as long as this tab lives. Where storage is refused, or the draft too
// long for it, for as long as the page.
export function draftOf(agent: string): Signal<string> {
  const known = drafts.get(agent);
  if (known) return known;
  const draft = signal(keptText(agent));
  drafts.set(agent, draft);
  draft.subscribe((text) => {
    try {
      if (text === '') sessionStorage.removeItem(kPrefix + agent);
      else sessionStorage.setItem(kPrefix + agent, text);
    } catch {
      // As said above.
    }
  });
  return draft;
}
