// Ten thousand rows: few in the page, every one in its place.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { agentClient, agentId, endLeftMonitors, launch, live, openPage, patience, spawnMonitor, until } from './harness.mjs';

const kAgents = 10_000;
const nameOf = (index) => `agent ${String(index).padStart(5, '0')}`;

let browser;
let monitor;
before(async () => {
  // Its own list is what a monitor begins with.
  const folder = mkdtempSync(join(tmpdir(), 'watchbill-scale-'));
  mkdirSync(join(folder, 'data'));
  const list = Array.from({ length: kAgents }, (_, index) => ({
    id: agentId(index),
    name: nameOf(index),
    folder: `/srv/agents/${index}`,
    host: `machine-${index % 40}`,
    note: null,
  }));
  writeFileSync(join(folder, 'data', 'agents.json'), JSON.stringify({ agents: list }));
  browser = await launch();
  monitor = await spawnMonitor({ folder });
});
after(async () => {
  await browser?.close();
  await endLeftMonitors();
});

const drawn = (page) =>
  page.locator('.row').evaluateAll((rows) =>
    rows.map((row) => ({
      index: Number(row.dataset.index),
      name: row.querySelector('.name').textContent,
      machine: row.querySelector('.c-machine').textContent,
      place: row.getAttribute('aria-rowindex'),
      top: row.getBoundingClientRect().top,
      bottom: row.getBoundingClientRect().bottom,
    })),
  );

test('ten thousand rows scroll from the first to the last, and only those in sight are drawn', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  await page.getByText('10,000 agents', { exact: true }).waitFor();
  assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), String(kAgents + 1));
  const box = page.locator('.table');
  const seen = new Set();
  // A window at a time, so that between them every kind of place is looked at; the ends exactly.
  const height = await box.evaluate((element) => element.scrollHeight);
  for (const share of [0, 0.1, 0.33, 0.5, 0.77, 0.999, 1]) {
    await box.evaluate((element, top) => element.scrollTo(0, top), share * height);
    const { top, bottom } = await box.evaluate((element) => {
      const head = element.querySelector('.head').getBoundingClientRect();
      return { top: head.bottom, bottom: element.getBoundingClientRect().bottom };
    });
    const rows = await until(`the rows at ${share}`, async () => {
      const all = await drawn(page);
      const inSight = all.filter((row) => row.bottom > top + 1 && row.top < bottom - 1);
      const covered = inSight.length > 0 && Math.min(...inSight.map((row) => row.top)) <= top + 1 && Math.max(...inSight.map((row) => row.bottom)) >= bottom - 1;
      return covered ? { all, inSight } : null;
    });
    assert.ok(rows.all.length <= 80, `${rows.all.length} rows in the page`);
    for (const { index, name, machine, place } of rows.all) {
      assert.equal(name, nameOf(index));
      assert.equal(machine, `machine-${index % 40}`);
      assert.equal(place, String(index + 2));
    }
    // In sight they follow each other without a gap.
    const indexes = rows.inSight.map(({ index }) => index);
    assert.deepEqual(indexes, Array.from(indexes, (_, offset) => indexes[0] + offset));
    for (const index of indexes) seen.add(index);
  }
  assert.ok(seen.has(0) && seen.has(kAgents - 1), 'the first and the last row were in sight');

  // A change far from sight is there when one gets to it; one in sight is drawn in place.
  await box.evaluate((element) => element.scrollTo(0, 0));
  const agent = await agentClient(monitor.url, { id: agentId(3), name: 'agent 00003', host: 'machine-3' });
  await page.locator('.row[data-index="3"][data-state="running"]').waitFor();
  agent.log({ id: 1, tokens: { total: 77 } });
  await page.locator('.row[data-index="3"] .c-tokens').getByText('77', { exact: true }).waitFor();
  await agent.close();
  await context.close();
  assert.deepEqual(faults, []);
});

test('the last of ten thousand rows is one key away, and a filter finds one at once', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  await page.keyboard.press('j');
  await until('the first row to have the focus', () => page.evaluate(() => document.activeElement.textContent === 'agent 00000'));
  await page.keyboard.press('End');
  await until('the last row to have the focus', () => page.evaluate(() => document.activeElement.textContent === 'agent 09999'));
  await page.keyboard.press('Home');
  await until('the first row again', () => page.evaluate(() => document.activeElement.textContent === 'agent 00000'));
  await page.keyboard.press('/');
  await page.keyboard.type('agent 07777');
  await page.getByText('1 of 10,000 agents', { exact: true }).waitFor();
  assert.deepEqual((await drawn(page)).map(({ name }) => name), ['agent 07777']);
  await context.close();
  assert.deepEqual(faults, []);
});
