import { effect } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Modal } from '../shared/modal';
import '../shared/theme';
import { About } from './about';
import { selected } from './address';
import { AgentList, move } from './agent_list';
import { agents, config, current, titleFor } from './agents';
import { Announcer } from './announcer';
import { Banners } from './banners';
import { focusComposer } from './composer';
import { connect, connection } from './connection';
import { Card, Conversation } from './conversation';
import { dialog } from './dialogs';
import { HelpDialog } from './help_dialog';
import { ways } from './keys';
import { toQuestion } from './messages';
import { narrow } from './narrow';
import { pending } from './permissions';
import { SignedOut } from './signed_out';
import { TopBar } from './top_bar';
import { words } from './words';

function Page() {
  const w = words.value;
  useEffect(() => {
    ways.value = { move, toComposer: focusComposer, toQuestion, help: () => (dialog.value = 'help') };
  }, []);
  return (
    <div class="page" data-connection={connection.value}>
      {/* The address holds the view, so the link moves the focus by itself. */}
      <a
        class="skip"
        href="#conversation"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('conversation')?.focus();
        }}
      >
        {w.skip}
      </a>
      <TopBar />
      <Content />
      <Announcer />
      <Dialogs />
    </div>
  );
}

function Content() {
  const w = words.value;
  if (connection.value === 'refused') {
    return (
      <main class="main">
        <SignedOut />
      </main>
    );
  }
  const wide = !narrow.value;
  return (
    <div class="body">
      {wide && (
        <nav class="side" aria-label={w.agents}>
          <h2 class="side-title">{w.agents}</h2>
          <AgentList />
          <span class="spring" />
          <ConfigPlace />
        </nav>
      )}
      <main class="main" id="conversation" tabIndex={-1}>
        <Banners />
        {selected.value === null ? <Choose wide={wide} /> : <Conversation />}
      </main>
      {wide && current.value && (
        <aside class="about" aria-label={w.detailsOf(titleFor(current.value.name))}>
          <h2 class="side-title">{w.details}</h2>
          <About />
        </aside>
      )}
    </div>
  );
}

// Where to write who is in the list.
function ConfigPlace() {
  const said = config.value;
  if (!said) return null;
  return (
    <p class="config-place">
      {words.value.configuration}
      <code>
        <bdi>{said.path}</bdi>
      </code>
    </p>
  );
}

function Choose({ wide }: { wide: boolean }) {
  const w = words.value;
  if (!agents.value) return <p class="hearing">{w.hearing}</p>;
  if (agents.value.length === 0) {
    return wide ? null : <AgentList />;
  }
  return (
    <Card title={w.chooseTitle}>
      <p class="faint">{w.chooseLead}</p>
      {!wide && <AgentList />}
    </Card>
  );
}

function Dialogs() {
  const w = words.value;
  const close = () => (dialog.value = null);
  const open = dialog.value;
  if (open === 'help') return <HelpDialog onClose={close} />;
  // A window that was made wide has its columns again.
  if (!narrow.value || open === null) return null;
  if (open === 'agents') {
    return (
      <Modal key={open} title={w.agents} close={w.close} class="drawer" onClose={close}>
        <AgentList chosen={close} />
        <ConfigPlace />
      </Modal>
    );
  }
  return (
    <Modal key={open} title={w.details} close={w.close} class="drawer end" onClose={close}>
      <About used={close} />
    </Modal>
  );
}

effect(() => {
  document.title = words.value.title(pending.value.size, selected.value === null ? '' : titleFor(selected.value));
});

const root = document.getElementById('page');
if (root) render(<Page />, root);
void connect();
