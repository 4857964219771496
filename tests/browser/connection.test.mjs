// Coming, going and coming back: the empty board, a monitor that dies, a monitor that wants to know who is there.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { agentClient, agentId, endLeftMonitors, keyIn, launch, live, noSidewaysScroll, noViolations, openPage, patience, row, spawnMonitor } from './harness.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await endLeftMonitors();
});

test('an empty board says how an agent gets there', { timeout: patience(40_000) }, async () => {
  const monitor = await spawnMonitor();
  for (const colorScheme of ['light', 'dark']) {
    const { page, context, faults } = await openPage(browser, monitor.url, { colorScheme });
    await live(page);
    await page.getByRole('heading', { name: 'No agent yet' }).waitFor();
    assert.equal(await page.locator('.dial').textContent(), `MONITOR_URL=${monitor.url}`);
    await noViolations(page, `an empty board (${colorScheme})`);
    await page.setViewportSize({ width: 320, height: 640 });
    await noSidewaysScroll(page, 'an empty board');
    await context.close();
    assert.deepEqual(faults, []);
  }
  await monitor.stop();
});

test('the page answers with the policy and the notices', { timeout: patience(40_000) }, async () => {
  const monitor = await spawnMonitor();
  const answer = await fetch(`${monitor.url}/`, { signal: AbortSignal.timeout(patience(10_000)) });
  assert.equal(answer.status, 200);
  const policy = answer.headers.get('content-security-policy');
  for (const part of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"]) {
    assert.ok(policy?.includes(part), `${part} in ${policy}`);
  }
  const notices = await fetch(`${monitor.url}/third-party-notices.txt`, { signal: AbortSignal.timeout(patience(10_000)) });
  assert.match(await notices.text(), /preact/);
  await monitor.stop();
});

test('killed and started again on its port, the monitor gets its page back', { timeout: patience(40_000) }, async () => {
  const first = await spawnMonitor();
  await keyIn(first.url, { id: agentId(1), name: 'Keeper', folder: '/srv/keeper', host: 'atlas' });
  const { page, context } = await openPage(browser, first.url);
  await live(page);
  await row(page, 'Keeper').waitFor();
  await first.kill();
  await page.locator('.pill[data-connection="lost"]').waitFor();
  await page.getByText(/Not connected to the monitor\. What you see was true at/).waitFor();
  assert.match(await page.locator('.strip').evaluate((strip) => getComputedStyle(strip).filter), /grayscale/);
  const terminate = row(page, 'Keeper').getByRole('button', { name: 'Terminate: Keeper' });
  assert.equal(await terminate.getAttribute('title'), 'Not connected to the monitor.');
  await noViolations(page, 'a stale board');

  const second = await spawnMonitor({ port: first.port, folder: first.folder });
  await page.locator('.pill[data-connection="live"]').waitFor({ timeout: patience(15_000) });
  await row(page, 'Keeper').waitFor();
  const agent = await agentClient(second.url, { id: agentId(2), name: 'Newcomer' });
  await row(page, 'Newcomer').waitFor();
  await agent.close();
  await context.close();
  await second.stop();
});

test('a token opens the board, and nothing else does', { timeout: patience(40_000) }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchbill-token-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'a-long-enough-secret-for-a-test\n', { mode: 0o600 });
  const monitor = await spawnMonitor({ args: ['--host', '0.0.0.0', '--token-file', tokenFile] });
  for (const colorScheme of ['light', 'dark']) {
    const { page, context } = await openPage(browser, monitor.url, { colorScheme });
    const token = page.getByLabel('Token', { exact: true });
    await token.waitFor();
    assert.equal(await page.getByRole('grid').count(), 0);
    await noViolations(page, `the sign-in form (${colorScheme})`);
    await token.fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('That is not the token.').waitFor();
    await token.fill('a-long-enough-secret-for-a-test');
    await page.keyboard.press('Enter');
    await live(page);
    await page.getByRole('heading', { name: 'No agent yet' }).waitFor();
    // Signed in is signed in for the next visit, and no script can read by what.
    await page.reload();
    await live(page);
    assert.equal(await page.evaluate(() => document.cookie), '');
    await context.close();
  }
  await monitor.stop();
  rmSync(folder, { recursive: true });
});
