// How long a test waits for what has to come. Nothing here says how fast something must be.

// What takes a second alone on two idle cores takes several among other tests on a machine whose neighbours are busy.
const kSlowest = 8;

// The limit where that time is ample on an idle machine.
export const patience = (ms) => ms * kSlowest;

// Rejects when `promise` takes longer than is patient, naming what was waited for.
export function within(ms, what, promise) {
  const most = patience(ms);
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${most} ms for ${what}`)), most);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Asks again until the answer is truthy.
export async function until(what, answer, ms = 10_000) {
  const most = patience(ms);
  const end = Date.now() + most;
  for (;;) {
    const got = await answer();
    if (got) return got;
    if (Date.now() > end) throw new Error(`waited ${most} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
