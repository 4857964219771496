// The board's own list, over HTTP.

export interface Entry {
  id: string;
  name: string;
  folder: string;
  host: string;
  note: string;
}

// Why the monitor would not: its own sentence (null when it gave none), and the field it is about, if any.
export interface Refusal {
  status: number;
  error: string | null;
  field: string | null;
}

async function call(path: string, method: string, body?: object): Promise<Refusal | null> {
  let answer: Response;
  try {
    answer = await fetch(new URL(path, document.baseURI), {
      method,
      credentials: 'same-origin',
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
    });
  } catch {
    return { status: 0, error: null, field: null };
  }
  if (answer.ok) return null;
  const said: unknown = await answer.json().catch(() => null);
  const part = (name: string) => {
    if (typeof said !== 'object' || said === null || !Object.hasOwn(said, name)) return null;
    const value = (said as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : null;
  };
  return { status: answer.status, error: part('error'), field: part('field') };
}

// What was left empty is left out: nobody said.
export function keyIn(entry: Entry): Promise<Refusal | null> {
  const said = Object.entries(entry).filter(([, value]) => value.trim() !== '');
  return call('api/agents', 'POST', Object.fromEntries(said.map(([name, value]) => [name, value.trim()])));
}

export function forget(id: string): Promise<Refusal | null> {
  return call(`api/agents/${encodeURIComponent(id)}`, 'DELETE');
}

export function signIn(token: string): Promise<Refusal | null> {
  return call('api/session', 'POST', { token });
}
