// JSON-RPC 2.0 over the socket that comes back by itself.
import type { ReadonlySignal } from '@preact/signals';
import { LiveSocket, type Connection } from '../shared/live_socket';
import type { Events, Methods } from './rpc_types';

// Why a call was refused: a word of rpc.md's list and its arguments, or `disconnected`, which is this page's own: the
// socket went before the answer came, so nobody knows whether it was done.
export class CallError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly args: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

interface Frame {
  jsonrpc: '2.0';
  id?: number | null;
  method?: string;
  params?: unknown;
  seq?: number;
  result?: unknown;
  error?: { message?: unknown; data?: { code?: unknown; args?: unknown } };
}

interface Waiting {
  resolve(result: never): void;
  reject(error: CallError): void;
}

interface Ends {
  // The socket is open: the time to ask for everything.
  opened(): void;
  closed(): void;
  // The numbers of the events have a gap: what is shown may be wrong.
  missed(): void;
}

export class RpcClient {
  readonly #socket: LiveSocket<Frame>;
  readonly #ends: Ends;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, ((params: never) => void)[]>();
  #nextId = 1;
  #lastSeq: number | null = null;

  constructor(path: string, ends: Ends) {
    this.#ends = ends;
    this.#socket = new LiveSocket<Frame>(path, {
      opened: () => {
        this.#lastSeq = null;
        ends.opened();
      },
      received: (frame) => this.#received(frame),
      reads: (frame): frame is Frame => 'jsonrpc' in frame && frame.jsonrpc === '2.0',
      closed: () => {
        const cut = [...this.#waiting.values()];
        this.#waiting.clear();
        for (const { reject } of cut) reject(new CallError('disconnected', 'The connection was lost before the answer came.'));
        ends.closed();
      },
    });
  }

  get connection(): ReadonlySignal<Connection> {
    return this.#socket.connection;
  }

  dial(): void {
    this.#socket.dial();
  }

  refuse(): void {
    this.#socket.refuse();
  }

  // Settles in the order in which frames arrive: what an answer says is older than the event after it, so it has to be
  // taken in before anything else is awaited.
  call<M extends keyof Methods>(method: M, ...params: Methods[M]['params']): Promise<Methods[M]['result']> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      if (!this.#socket.send({ jsonrpc: '2.0', id, method, params })) {
        reject(new CallError('disconnected', 'There is no connection.'));
        return;
      }
      this.#waiting.set(id, { resolve, reject });
    });
  }

  on<E extends keyof Events>(event: E, listener: (params: Events[E]) => void): void {
    const listeners = this.#listeners.get(event) ?? [];
    listeners.push(listener);
    this.#listeners.set(event, listeners);
  }

  #received(frame: Frame): void {
    if (typeof frame.method === 'string') return this.#event(frame.method, frame);
    if (typeof frame.id !== 'number') return;
    const waiting = this.#waiting.get(frame.id);
    if (!waiting) return;
    this.#waiting.delete(frame.id);
    if (!frame.error) return waiting.resolve(frame.result as never);
    const { message, data } = frame.error;
    const args = typeof data?.args === 'object' && data.args !== null ? (data.args as Record<string, unknown>) : {};
    waiting.reject(new CallError(typeof data?.code === 'string' ? data.code : '', String(message ?? ''), args));
  }

  #event(name: string, { params, seq }: Frame): void {
    const before = this.#lastSeq;
    if (typeof seq === 'number') this.#lastSeq = seq;
    if (typeof params === 'object' && params !== null) for (const listener of this.#listeners.get(name) ?? []) listener(params as never);
    if (typeof seq === 'number' && before !== null && seq !== before + 1) this.#ends.missed();
  }
}
