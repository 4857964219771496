// A program that talks to a supervisor over /rpc, with the token of its runtime file.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import WebSocket from 'ws';
import { until, within } from './patience.mjs';

// What the supervisor wrote for programs: {url, token, pid, config}.
export function runtimeFile(supervisor) {
  const folder = join(supervisor.folder, 'runtime', 'watchbill');
  const name = readdirSync(folder).find((entry) => /^supervisor-[0-9a-f]{16}\.json$/.test(entry));
  if (!name) throw new Error(`no supervisor-….json in ${folder}`);
  return { path: join(folder, name), ...JSON.parse(readFileSync(join(folder, name), 'utf8')) };
}

// `call` gives the result or throws what the supervisor refused it with; `ask` gives the whole frame.
export async function rpcClient(supervisor) {
  const { token } = runtimeFile(supervisor);
  const socket = new WebSocket(`${supervisor.url.replace(/^http/, 'ws')}/rpc`, { headers: { authorization: `Bearer ${token}` }, perMessageDeflate: false });
  const frames = []; // in the order they came: events and answers
  const waiting = new Map();
  let last = 0;
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data));
    frames.push(frame);
    if ('id' in frame) waiting.get(frame.id)?.(frame);
  });
  socket.on('error', () => {});
  await within(10_000, 'the socket to open', new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  }));
  const ask = (method, params) => {
    const id = ++last;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return within(30_000, `the answer to ${method}`, answer);
  };
  const events = (name) => frames.filter((frame) => frame.method === name).map((frame) => frame.params);
  return {
    socket,
    frames,
    events,
    ask,
    call: async (method, ...params) => {
      const frame = await ask(method, params);
      if (frame.error) throw Object.assign(new Error(frame.error.message), frame.error);
      return frame.result;
    },
    event: (name, wanted = () => true, ms = 15_000) => until(`${name}`, () => events(name).find(wanted), ms),
    // The message of that kind that is whole.
    finished: (wanted = () => true, ms = 20_000) =>
      until('a finished message', () => events('message:updated').map(({ message }) => message).find((m) => m.role === 'agent' && m.done && wanted(m)), ms),
    close: () => socket.terminate(),
  };
}

export const textOf = (message) => message.parts.filter((part) => part.kind === 'text').map((part) => part.text).join('\n');
