// How a person gets about: keys, filters and order in the address, languages, themes, small screens, and axe.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agentClient, agentId, endLeftMonitors, keyIn, launch, live, noSidewaysScroll, noViolations, openPage, patience, row, spawnMonitor, until } from './harness.mjs';

let browser;
let monitor;
const agents = [];
before(async () => {
  browser = await launch();
  monitor = await spawnMonitor();
  await keyIn(monitor.url, { id: agentId(9), name: 'Zeta', folder: '/srv/zeta', host: 'delos', note: 'Sundays' });
  for (const [index, [name, host, tokens]] of [['Alpha', 'atlas', 50], ['Beta', 'borealis', 700], ['Gamma', 'atlas', null]].entries()) {
    const agent = await agentClient(monitor.url, { id: agentId(index + 1), name, host });
    agent.enter('r1');
    if (tokens !== null) agent.log({ id: 1, runId: 'r1', tokens: { total: tokens } });
    if (name !== 'Gamma') agent.exit('r1', name === 'Beta' ? { outcome: 'failed', ok: false, error: 'It went wrong.' } : {});
    agents.push(agent);
  }
});
after(async () => {
  await browser?.close();
  await endLeftMonitors();
});

const names = (page) => page.locator('.row').evaluateAll((rows) => rows.map((one) => one.querySelector('.name').textContent));
const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? '');
const has = async (page, wanted) =>
  until(`the rows to be ${wanted}`, async () => JSON.stringify(await names(page)) === JSON.stringify(wanted));

test('the keyboard alone finds, opens, arms and closes', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  await has(page, ['Alpha', 'Beta', 'Gamma', 'Zeta']);
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to the agents');
  await page.keyboard.press('Enter');
  await until('the table to have the focus', () => page.evaluate(() => document.activeElement.id === 'agents'));
  for (const [key, name] of [['j', 'Alpha'], ['j', 'Beta'], ['ArrowDown', 'Gamma'], ['k', 'Beta'], ['ArrowUp', 'Alpha'], ['End', 'Zeta'], ['Home', 'Alpha']]) {
    await page.keyboard.press(key);
    await until(`${key} to go to ${name}`, async () => (await focused(page)) === name);
  }
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Alpha' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('complementary').waitFor({ state: 'detached' });
  await until('the focus to be back on the name', async () => (await focused(page)) === 'Alpha');
  // The buttons of a row are beside its name.
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await row(page, 'Alpha').getByRole('button', { name: 'Press again: Alpha' }).waitFor();
  await page.keyboard.press('Escape');
  await row(page, 'Alpha').getByRole('button', { name: 'Terminate: Alpha' }).waitFor();

  await page.keyboard.press('/');
  await page.keyboard.type('j k');
  await until('the letters to be in the filter', async () => (await page.getByRole('searchbox').inputValue()) === 'j k');
  await page.getByText('No agent matches the filter.').waitFor();
  await page.keyboard.press('Escape');
  await has(page, ['Alpha', 'Beta', 'Gamma', 'Zeta']);
  await page.getByRole('button', { name: 'Help' }).focus();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Help' });
  await help.waitFor();
  // Letters can be switched off, and stay so.
  await help.getByRole('checkbox').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  await until('the focus to be back on the button', async () => (await focused(page)) === '?');
  await page.keyboard.press('?');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await context.close();
  assert.deepEqual(faults, []);
});

test('every target is at least 24 pixels, and shows the focus', { timeout: patience(40_000) }, async () => {
  const { page, context } = await openPage(browser, monitor.url);
  await live(page);
  await row(page, 'Alpha').getByRole('button', { name: 'Details of Alpha' }).click();
  const small = await page.locator('button:visible, select:visible, input:visible, summary:visible').evaluateAll((all) =>
    all.map((one) => ({ what: one.textContent || one.tagName, box: one.getBoundingClientRect() })).filter(({ box }) => box.width < 24 || box.height < 24),
  );
  assert.deepEqual(small, []);
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press('Tab');
    const ring = await page.evaluate(() => {
      const one = document.activeElement;
      return one === document.body || (getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) >= 2);
    });
    assert.ok(ring, `no ring on ${await focused(page)}`);
  }
  await context.close();
});

test('filter, order and selection are in the address, and survive a reload', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  await page.getByRole('button', { name: 'Tokens', exact: true }).click();
  // The largest first, and last what nobody said.
  await until('the order by tokens', async () => (await names(page)).slice(0, 2).join() === 'Beta,Alpha');
  await page.mouse.move(5, 5);
  await page.locator('.filter[data-state="running"]').click();
  await has(page, ['Beta', 'Alpha', 'Gamma']);
  await page.getByRole('searchbox').fill('atlas');
  await has(page, ['Alpha', 'Gamma']);
  await page.getByText('2 of 4 agents', { exact: true }).waitFor();
  await row(page, 'Gamma').getByRole('button', { name: 'Details of Gamma' }).click();
  await page.getByRole('complementary', { name: 'Gamma' }).waitFor();
  await page.reload();
  await live(page);
  await has(page, ['Alpha', 'Gamma']);
  await page.getByRole('complementary', { name: 'Gamma' }).waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), 'atlas');
  assert.equal(await page.locator('.filter[data-state="running"]').getAttribute('aria-pressed'), 'true');
  assert.equal(await page.getByRole('columnheader', { name: 'Tokens' }).getAttribute('aria-sort'), 'descending');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until('all rows', async () => (await names(page)).length === 4);
  await context.close();
  assert.deepEqual(faults, []);
});

test('the order holds under the pointer', { timeout: patience(40_000) }, async () => {
  const own = await spawnMonitor();
  const { page, context } = await openPage(browser, `${own.url}/#sort=-tokens`);
  const first = await agentClient(own.url, { id: agentId(1), name: 'First' });
  const second = await agentClient(own.url, { id: agentId(2), name: 'Second' });
  first.log({ id: 1, tokens: { total: 100 } });
  second.log({ id: 1, tokens: { total: 50 } });
  await has(page, ['First', 'Second']);
  await row(page, 'First').hover();
  await page.getByText('order held while you are in the table').waitFor();
  second.log({ id: 2, tokens: { total: 500 } });
  await row(page, 'Second').getByText('550').waitFor();
  assert.deepEqual(await names(page), ['First', 'Second']);
  await page.mouse.move(5, 5);
  await has(page, ['Second', 'First']);
  await first.close();
  await second.close();
  await context.close();
  await own.stop();
});

test('French in the dark: words, figures, and the choice of both', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url, { locale: 'fr-FR', colorScheme: 'dark' });
  await page.getByText('en direct').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'fr');
  await page.getByText('4 agents', { exact: true }).waitFor();
  await page.getByRole('row').filter({ hasText: 'Beta' }).getByText('échouée').waitFor();
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await ground();
  await page.getByLabel('Thème').selectOption('light');
  await until('the light ground', async () => (await ground()) !== dark);
  await page.getByLabel('Langue').selectOption('en');
  await page.getByText('live', { exact: true }).waitFor();
  await until('the page to be in English', () => page.evaluate(() => document.documentElement.lang === 'en'));
  await page.reload();
  await live(page);
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
  assert.notEqual(await ground(), dark);
  await context.close();
  assert.deepEqual(faults, []);
});

for (const [width, height] of [[390, 844], [320, 640]]) {
  for (const locale of ['en-GB', 'fr-FR']) {
    test(`at ${width} pixels nothing is lost sideways (${locale})`, { timeout: patience(40_000) }, async () => {
      const { page, context, faults } = await openPage(browser, monitor.url, {
        viewport: { width, height },
        locale,
        hasTouch: true,
        isMobile: true,
        reducedMotion: 'reduce',
      });
      await live(page);
      const of = page.getByRole('row').filter({ hasText: 'Beta' });
      await of.waitFor();
      await noSidewaysScroll(page, 'the board');
      for (const column of ['state', 'name', 'tokens', 'actions']) assert.ok(await of.locator(`.c-${column}`).isVisible(), column);
      await of.locator('.name').tap();
      const sheet = page.getByRole('dialog', { name: 'Beta' });
      await sheet.waitFor();
      assert.deepEqual(await sheet.evaluate((one) => [one.clientWidth, one.clientHeight]), [width, height]);
      await noSidewaysScroll(page, 'the details');
      await sheet.getByRole('button', { name: /Close|Fermer/ }).tap();
      await sheet.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: /Add an agent|Ajouter un agent/ }).first().tap();
      await page.getByRole('dialog').waitFor();
      await noSidewaysScroll(page, 'the dialog');
      await context.close();
      assert.deepEqual(faults, []);
    });
  }
}

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds nothing on the board (${colorScheme})`, { timeout: patience(40_000) }, async () => {
    const { page, context } = await openPage(browser, monitor.url, { colorScheme });
    await live(page);
    await row(page, 'Beta').waitFor();
    await noViolations(page, 'a board with rows');
    await row(page, 'Beta').getByRole('button', { name: 'Details of Beta' }).click();
    await page.getByRole('complementary', { name: 'Beta' }).waitFor();
    agents[1].enter('axe', { startedBy: 'webhook' });
    agents[1].log({ id: `axe-${colorScheme}`, runId: 'axe', kind: 'tool', name: 'look', ok: false });
    agents[1].exit('axe', { outcome: 'failed', ok: false });
    await page.getByRole('log').getByText('look').first().waitFor();
    await noViolations(page, 'the details');
    await page.getByRole('button', { name: 'Add an agent' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    await noViolations(page, 'the dialog');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Help' }).click();
    await page.getByRole('dialog', { name: 'Help' }).waitFor();
    await noViolations(page, 'the help');
    await context.close();

    const small = await openPage(browser, monitor.url, { colorScheme, viewport: { width: 390, height: 844 } });
    await live(small.page);
    await small.page.locator('.row').first().waitFor();
    await noViolations(small.page, 'the narrow board');
    await small.context.close();
  });
}
