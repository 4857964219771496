import { signal, type ReadonlySignal } from '@preact/signals';

// `refused`: the far end wants to know who is there first; nothing is dialled until Dial() is called again.
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

interface Ends<Frame extends object> {
  opened(send: (frame: object) => void): void;
  // What is not a JSON object that `reads` knows never gets here.
  received(frame: Frame): void;
  // Whether an object is a frame of this protocol. Without it: one with a `type`.
  reads?(frame: object): frame is Frame;
  // A socket is gone, whether it was ever live or not. What was asked over it gets no answer.
  closed?(): void;
}

const kFirstWaitMs = 1_000;
const kLongestWaitMs = 30_000;

function hasType(frame: object): boolean {
  return 'type' in frame && typeof frame.type === 'string';
}

// One socket that comes back by itself: after 1 s, 2 s, 4 s … 30 s, and at once when the browser says that the
// network is back. It is `live` only when a first frame has arrived, which is also what resets the wait: a port that
// accepts and hangs up is not a connection.
export class LiveSocket<Frame extends object = { type: string }> {
  readonly #connection = signal<Connection>('connecting');
  readonly #ends: Ends<Frame>;
  readonly #path: string;
  #socket: WebSocket | null = null;
  #wait = kFirstWaitMs;
  #timer = 0;

  // `path` is relative to the page, so that a page behind a base path finds its own socket.
  constructor(path: string, ends: Ends<Frame>) {
    this.#path = path;
    this.#ends = ends;
    window.addEventListener('online', () => {
      if (this.#connection.peek() === 'lost') this.dial();
    });
  }

  get connection(): ReadonlySignal<Connection> {
    return this.#connection;
  }

  dial(): void {
    clearTimeout(this.#timer);
    this.#drop();
    const url = new URL(this.#path, document.baseURI);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.hash = '';
    url.search = '';
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onopen = () => this.#ends.opened((frame) => socket.send(JSON.stringify(frame)));
    socket.onmessage = ({ data }) => this.#arrived(data);
    socket.onclose = () => this.#closed();
  }

  // False when there is nobody to send it to.
  send(frame: object): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  refuse(): void {
    clearTimeout(this.#timer);
    this.#drop();
    this.#connection.value = 'refused';
  }

  #drop(): void {
    if (!this.#socket) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
    this.#ends.closed?.();
  }

  #arrived(data: unknown): void {
    let frame: unknown;
    try {
      frame = JSON.parse(String(data));
    } catch {
      return;
    }
    if (typeof frame !== 'object' || frame === null) return;
    if (!(this.#ends.reads ?? hasType)(frame)) return;
    const socket = this.#socket;
    this.#ends.received(frame as Frame);
    if (this.#socket !== socket) return;
    this.#wait = kFirstWaitMs;
    this.#connection.value = 'live';
  }

  #closed(): void {
    this.#socket = null;
    this.#connection.value = 'lost';
    this.#timer = window.setTimeout(() => this.dial(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, kLongestWaitMs);
    this.#ends.closed?.();
  }
}
