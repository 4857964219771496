// The one socket to the supervisor, and who may open it.
import { signal } from '@preact/signals';
import { RpcClient } from './rpc';

const openers: (() => void)[] = [];
const missers: (() => void)[] = [];

export const rpc = new RpcClient('rpc', {
  opened: () => {
    for (const load of openers) load();
  },
  missed: () => {
    for (const load of missers) load();
  },
  closed: () => {
    // A handshake that was answered 401 looks like any other failure from here.
    if (rpc.connection.peek() === 'lost') void checkSession();
  },
});

export const connection = rpc.connection;

// Runs at every opened socket, and where events were missed: the supervisor's word replaces what is here.
export function onFresh(load: () => void): void {
  openers.push(load);
  missers.push(load);
}

async function signedOut(): Promise<boolean> {
  try {
    return (await fetch('session', { cache: 'no-store' })).status === 401;
  } catch {
    // Not there is not the same as not signed in.
    return false;
  }
}

async function checkSession(): Promise<void> {
  if (await signedOut()) rpc.refuse();
}

// True while somebody waits for the answer to "am I signed in".
export const knocking = signal(false);

export async function connect(): Promise<void> {
  if (knocking.peek()) return;
  knocking.value = true;
  const refused = await signedOut();
  knocking.value = false;
  if (refused) rpc.refuse();
  else rpc.dial();
}

// The link may have been opened in another tab: then this one finds out when it is looked at again.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && connection.peek() === 'refused') void connect();
});
