import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import '../shared/theme';
import { AgentTable, moveTo } from './agent_table';
import { connect, connection, outcome } from './commands';
import { Details } from './details';
import { dialog } from './dialogs';
import { EmptyBoard } from './empty_board';
import { EntryDialog } from './entry_dialog';
import { Filters, Shown } from './filters';
import { board, revision, rows } from './fleet';
import { HelpDialog } from './help_dialog';
import { ways } from './keys';
import { SignIn } from './sign_in';
import { StaleNotice, TopBar, Totals } from './top_bar';
import { clearFilters, held, selected, text, wanted } from './view';
import { words } from './words';

function Page() {
  const w = words.value;
  const filter = useRef<HTMLInputElement>(null);
  useEffect(() => {
    ways.value = {
      move: (step) => moveTo(step),
      toFilter: () => {
        filter.current?.focus();
        filter.current?.select();
      },
      help: () => (dialog.value = { kind: 'help' }),
      back: () => {
        if (selected.value !== null) selected.value = null;
        else if (text.value !== '' || wanted.value.size > 0) clearFilters();
      },
    };
  }, []);
  return (
    <div class="page" data-connection={connection.value}>
      {/* The address holds the view, so the link moves the focus by itself. */}
      <a
        class="skip"
        href="#agents"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('agents')?.focus();
        }}
      >
        {w.skip}
      </a>
      <TopBar />
      <main class="main">
        <StaleNotice />
        <Content filter={filter} />
      </main>
      <Outcome />
      <Dialogs />
    </div>
  );
}

function Content({ filter }: { filter: { current: HTMLInputElement | null } }) {
  revision.value;
  if (connection.value === 'refused') return <SignIn />;
  if (!board.value) {
    return (
      <p class="hearing" id="agents" tabIndex={-1}>
        {words.value.hearing}
      </p>
    );
  }
  return (
    <>
      <div class="strip">
        <Totals />
        {rows.size > 0 && <Shown />}
        {rows.size > 0 && <Filters field={filter} />}
      </div>
      <div class="body">
        {rows.size > 0 ? <AgentTable /> : <EmptyBoard />}
        <Details />
      </div>
    </>
  );
}

function Outcome() {
  const said = outcome.value;
  return (
    <footer class="outcome-line" data-bad={said?.bad ?? false}>
      <div role="status" aria-label={words.value.result}>
        {said && <bdi>{said.say(words.value)}</bdi>}
      </div>
      {held.value && <span class="held">{words.value.orderHeld}</span>}
    </footer>
  );
}

function Dialogs() {
  const open = dialog.value;
  const close = () => (dialog.value = null);
  if (open?.kind === 'help') return <HelpDialog onClose={close} />;
  if (open?.kind === 'entry') return <EntryDialog entry={open.entry} onClose={close} />;
  return null;
}

const root = document.getElementById('page');
if (root) render(<Page />, root);
connect();
