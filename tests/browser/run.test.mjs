// The page's Run and Terminate, carried out: the monitor's own runner starts the example agent from its folder.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { program } from '../support/monitor.mjs';
import { agentId, endLeftMonitors, keyIn, launch, live, openPage, patience, row, spawnMonitor, until } from './harness.mjs';

let browser;
let folder;
before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'watchbill-run-'));
  writeFileSync(join(folder, 'watchbill.json'), JSON.stringify({
    command: [program('watchbill-example-agent'), '--every', '200'],
    env: { WATCHBILL_AGENT_ID: agentId(1), WATCHBILL_AGENT_NAME: 'Harbour' },
  }));
});
after(async () => {
  await browser?.close();
  await endLeftMonitors();
  rmSync(folder, { recursive: true, force: true });
});

test('M8 M9 Run starts a folder through the runner, and Terminate ends it', { timeout: patience(60_000) }, async () => {
  const monitor = await spawnMonitor({ runner: true });
  await keyIn(monitor.url, { id: agentId(1), name: 'Harbour', folder });
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  const of = row(page, 'Harbour');
  const state = of.locator('.c-state');
  const result = page.locator('.outcome-line [role=status]');
  const run = of.getByRole('button', { name: 'Run: Harbour' });
  await until('Run to be offered', async () => (await run.getAttribute('aria-disabled')) !== 'true');
  for (let round = 0; round < 2; ++round) {
    await run.click();
    await until('the agent to run', async () => /running/.test(await state.innerText()));
    // A second after it was: an agent that ends sooner was not started, whoever ended it.
    await until('the word that it was started', async () => (await result.innerText()) === 'Harbour was started.');
    await until('tokens', async () => /\d/.test(await of.locator('.c-tokens').innerText()));
    assert.equal(await run.getAttribute('aria-disabled'), 'true');
    await of.getByRole('button', { name: 'Terminate: Harbour' }).click();
    await of.getByRole('button', { name: 'Press again: Harbour' }).click();
    await until('the agent to stop', async () => /stopped/.test(await state.innerText()));
    await until('the result', async () => (await result.innerText()) === 'Harbour was told to end.');
    await until('Run to be offered again', async () => (await run.getAttribute('aria-disabled')) !== 'true');
  }
  // An agent that ends at once says why, in the words it ended with.
  writeFileSync(join(folder, 'watchbill.json'), JSON.stringify({ command: ['sh', '-c', 'echo the key is missing >&2; exit 3'] }));
  await run.click();
  await until('the reason', async () => (await result.innerText()).includes('its last words: the key is missing'));
  await context.close();
  assert.deepEqual(faults, []);
  await monitor.stop();
});
