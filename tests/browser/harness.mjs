// Debian's Chromium on a page of a monitor that was started for the test.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { patience } from '../support/patience.mjs';

export { agentClient, agentId, endLeftMonitors, keyIn, spawnMonitor } from '../support/monitor.mjs';
export { patience, until, within } from '../support/patience.mjs';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export function launch() {
  return chromium.launch({
    executablePath: process.env.WATCHBILL_CHROMIUM || '/usr/bin/chromium',
    args: [
      // Chromium refuses to run as root with its sandbox.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--no-default-browser-check',
      '--disable-extensions',
      '--hide-scrollbars',
      '--font-render-hinting=none',
      '--force-color-profile=srgb',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
}

// A page of its own context. `faults` gathers what no test may cause: errors, and violations of the policy.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', timezoneId: 'UTC', ...options });
  context.setDefaultTimeout(patience(10_000));
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(url, { waitUntil: 'load' });
  return { page, context, faults };
}

export function live(page) {
  return page.locator('.pill[data-connection="live"]').waitFor();
}

export function row(page, name) {
  return page.getByRole('row').filter({ has: page.getByRole('button', { name: `Details of ${name}`, exact: true }) });
}

export async function noViolations(page, where) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('\n   ')}`);
  });
  assert.deepEqual(found, [], `axe on ${where}`);
}

// The page is never wider than its window: nothing has to be read by scrolling sideways.
export async function noSidewaysScroll(page, where) {
  const { wide, room } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, room: innerWidth }));
  assert.ok(wide <= room, `${where}: ${wide} px in a window of ${room} px`);
}
