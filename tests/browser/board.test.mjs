// What the board shows of agents that live, speak and leave.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agentClient, agentId, endLeftMonitors, keyIn, launch, live, noSidewaysScroll, openPage, patience, row, spawnMonitor, until } from './harness.mjs';

let browser;
let monitor;
before(async () => {
  browser = await launch();
  monitor = await spawnMonitor();
});
after(async () => {
  await browser?.close();
  await endLeftMonitors();
});

const cell = (of, column) => of.locator(`.c-${column}`);
const text = async (locator) => (await locator.innerText()).trim();

async function shows(what, locator, wanted) {
  await until(`${what} to be ${wanted}`, async () => {
    const got = await text(locator);
    return wanted instanceof RegExp ? wanted.test(got) : got === wanted;
  });
}

test('a row follows its agent: registered, running, tokens counted once, stopped', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  const agent = await agentClient(monitor.url, { id: agentId(1), name: 'Israeli News', host: 'odeta' });
  const of = row(page, 'Israeli News');
  await of.waitFor();
  await shows('the state', cell(of, 'state'), 'running');
  await shows('the tokens', cell(of, 'tokens'), /^—\s*nobody said$/);
  await shows('the machine', cell(of, 'machine'), 'odeta');
  await shows('the last run', cell(of, 'last'), 'none yet');

  agent.enter('r1');
  await shows('the runs', cell(of, 'runs'), '1 running');
  agent.log({ id: 1, runId: 'r1', tokens: { total: 812 } });
  await shows('the tokens', cell(of, 'tokens'), '812');
  // The same entry again, then another one: what is counted says that the copy was not.
  agent.log({ id: 1, runId: 'r1', tokens: { total: 812 } });
  agent.log({ id: 2, runId: 'r1', tokens: { total: 1000 } });
  await shows('the tokens', cell(of, 'tokens'), '1,812');
  agent.exit('r1');
  await shows('the runs', cell(of, 'runs'), 'idle');
  await shows('the last run', cell(of, 'last'), /^ok/);
  await shows('the total', page.locator('.totals dd').first(), /^1,812 from 1 of 1 agent$/);

  await agent.close();
  await shows('the state', cell(of, 'state'), 'stopped');
  await shows('those that stopped', page.locator('.filter[data-state="stopped"] .count'), '1');
  await context.close();
  assert.deepEqual(faults, []);
});

test('nought tokens are nought, and a failed run is failed', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  const agent = await agentClient(monitor.url, { id: agentId(2), name: 'Mail Agent' });
  const of = row(page, 'Mail Agent');
  await of.waitFor();
  agent.enter('r1');
  agent.log({ id: 1, runId: 'r1', tokens: { total: 0 } });
  agent.exit('r1', { outcome: 'failed', ok: false });
  await shows('the last run', cell(of, 'last'), /^failed/);
  await shows('the tokens', cell(of, 'tokens'), '0');
  await agent.close();
  await context.close();
  assert.deepEqual(faults, []);
});

test('the details show runs as a tree, and the log as it comes', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  const agent = await agentClient(monitor.url, { id: agentId(3), name: 'Analyst', cwd: '/srv/analyst', pid: 4711 });
  await row(page, 'Analyst').click({ position: { x: 300, y: 10 } });
  const details = page.getByRole('complementary', { name: 'Analyst' });
  await details.waitFor();
  await shows('the facts', details.locator('.facts'), /\/srv\/analyst[\s\S]*4711/);

  agent.enter('parent', { startedBy: 'webhook' });
  agent.enter('child', { startedBy: 'webhook', parentRunId: 'parent', agent: 'SQL Agent' });
  agent.log({ id: 1, kind: 'tool', name: 'execute-query', runId: 'child' });
  agent.exit('child');
  agent.exit('parent', { outcome: 'failed', ok: false, failure: 'tool', error: 'The database is away.' });
  await details.locator('[data-run-id="parent"] .fault').getByText('The database is away.').waitFor();
  await details.locator('[data-run-id="parent"]').getByText('by webhook').waitFor();
  const child = details.locator('.run-list .run-list [data-run-id="child"]');
  await shows('the delegated run', child, /^ok\s+SQL Agent/);
  const log = details.getByRole('log');
  await log.getByText('execute-query').waitFor();
  agent.send({ type: 'log', dropped: 17 });
  await log.getByText('17 lines were not sent').waitFor();

  // A line that comes between a scroll and the word of it is not somebody scrolling up.
  for (let id = 2; id < 60; id++) agent.log({ id, kind: 'note', name: `line ${id}` });
  await log.getByText('line 59', { exact: true }).waitFor();
  const fromFoot = () => log.evaluate((lines) => lines.scrollHeight - lines.scrollTop - lines.clientHeight);
  await until('the foot', async () => (await fromFoot()) <= 8);
  const held = await log.evaluate(async (lines) => {
    const late = document.createElement('p');
    late.style.height = '60px';
    lines.append(late);
    lines.dispatchEvent(new Event('scroll'));
    for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    const newer = lines.parentElement.querySelector('.newer');
    late.remove();
    return newer !== null;
  });
  assert.equal(held, false);

  // Scrolled up it stands still, and counts; asked, it goes on.
  await log.evaluate((lines) => lines.scrollTo(0, 0));
  const back = details.getByRole('button', { name: /Back to the newest|new line/ });
  await back.waitFor();
  agent.log({ id: 60, kind: 'note', name: 'line 60' });
  await details.getByRole('button', { name: '1 new line' }).waitFor();
  assert.equal(await log.getByText('line 60', { exact: true }).count(), 0);
  await back.click();
  await log.getByText('line 60', { exact: true }).waitFor();

  // However long it goes on, the page keeps five hundred lines.
  for (let id = 61; id < 700; id++) agent.log({ id, kind: 'note', name: `line ${id}` });
  await log.getByText('line 699', { exact: true }).waitFor();
  assert.ok((await log.locator('p').count()) <= 500);
  await agent.close();
  await context.close();
  assert.deepEqual(faults, []);
});

test('terminate asks for a second press, in the same place and size', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  const agent = await agentClient(monitor.url, { id: agentId(4), name: 'Doomed' });
  const of = row(page, 'Doomed');
  await shows('the state', cell(of, 'state'), 'running');
  const button = of.locator('.button.danger');
  const size = await button.boundingBox();
  await button.click();
  await of.getByRole('button', { name: 'Press again: Doomed' }).waitFor();
  assert.deepEqual(await button.boundingBox(), size);
  await shows('the result', page.locator('.outcome-line [role=status]'), 'Press Terminate again to end Doomed.');
  // Escape and going away both disarm it.
  await page.keyboard.press('Escape');
  await of.getByRole('button', { name: 'Terminate: Doomed' }).waitFor();
  await shows('the result', page.locator('.outcome-line [role=status]'), '');
  await button.click();
  await page.getByRole('searchbox').focus();
  await of.getByRole('button', { name: 'Terminate: Doomed' }).waitFor();
  assert.equal(await text(cell(of, 'state')), 'running');
  // An agent of the test does not obey by itself.
  agent.socket.on('message', (data) => {
    const frame = JSON.parse(String(data));
    if (frame.type !== 'terminate') return;
    agent.send({ type: 'ok', ask: frame.ask });
    agent.socket.close();
  });
  await button.click();
  await button.click();
  await shows('the state', cell(of, 'state'), 'stopped');
  await shows('the result', page.locator('.outcome-line [role=status]'), 'Doomed was told to end.');
  await context.close();
  assert.deepEqual(faults, []);
});

test('run says why it is not offered', { timeout: patience(40_000) }, async () => {
  await keyIn(monitor.url, { id: agentId(5), name: 'Elsewhere', folder: '/srv/elsewhere', host: 'far-away' });
  await keyIn(monitor.url, { id: agentId(6), name: 'Nowhere' });
  const { page, context, faults } = await openPage(browser, monitor.url);
  for (const [name, why] of [['Elsewhere', 'No runner is connected on far-away.'], ['Nowhere', 'Nothing says where this agent lives.']]) {
    const button = row(page, name).getByRole('button', { name: `Run: ${name}` });
    await button.waitFor();
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
    assert.equal(await button.getAttribute('title'), why);
    const described = await button.getAttribute('aria-describedby');
    assert.equal(await page.locator(`[id="${described}"]`).textContent(), why);
    // Playwright takes what is described as disabled to be beyond a press; a person does not.
    await button.click({ force: true });
    await shows('the result', page.locator('.outcome-line [role=status]'), `${name}: ${why}`);
  }
  await context.close();
  assert.deepEqual(faults, []);
});

test('an agent is keyed in, corrected where the monitor objects, and forgotten', { timeout: patience(40_000) }, async () => {
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  await page.getByRole('button', { name: 'Add an agent' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add an agent' });
  await dialog.getByLabel('Id', { exact: true }).fill('not an id');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText(/8-4-4-4-12/).waitFor();
  await until('the id to be marked', async () => (await dialog.getByLabel('Id', { exact: true }).getAttribute('aria-invalid')) === 'true');
  await dialog.getByRole('button', { name: 'Make one' }).click();
  await until('an id', async () => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(await dialog.getByLabel('Id', { exact: true }).inputValue()));
  await dialog.getByLabel('Name').fill('Keyed by hand');
  await dialog.getByLabel('Folder').fill('/srv/by-hand');
  await dialog.getByLabel('Note').fill('Sundays only');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(page, 'Keyed by hand').getByRole('button', { name: 'Details of Keyed by hand' }).click();
  const details = page.getByRole('complementary', { name: 'Keyed by hand' });
  await details.getByText('Sundays only').waitFor();
  await details.getByRole('button', { name: 'Edit entry' }).click();
  await page.getByRole('dialog').getByLabel('Note').fill('Mondays only');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await details.getByText('Mondays only').waitFor();
  await details.getByRole('button', { name: 'Forget: Keyed by hand' }).click();
  await details.getByRole('button', { name: 'Press again: Keyed by hand' }).click();
  await row(page, 'Keyed by hand').waitFor({ state: 'detached' });
  await context.close();
  assert.deepEqual(faults, []);
});

test('what the server says of a field is shown at the field', { timeout: patience(40_000) }, async () => {
  const { page, context } = await openPage(browser, monitor.url);
  await live(page);
  await page.route('**/api/agents', (route) =>
    route.fulfill({ status: 400, contentType: 'application/json', body: JSON.stringify({ error: 'A folder is a whole path.', field: 'folder' }) }),
  );
  await page.getByRole('button', { name: 'Add an agent' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add an agent' });
  await dialog.getByRole('button', { name: 'Make one' }).click();
  await dialog.getByLabel('Name').fill('x');
  await dialog.getByLabel('Folder').fill('here');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText('A folder is a whole path.').waitFor();
  const folder = dialog.getByLabel('Folder');
  assert.match(await folder.getAttribute('aria-describedby'), /fault-folder/);
  await until('the focus to be on what is wrong', () => folder.evaluate((input) => input === document.activeElement));
  await context.close();
});

test('names and lines are text, whatever they hold', { timeout: patience(40_000) }, async () => {
  const hostile = '<img src=x onerror="document.title=\'owned\'">';
  const backwards = '\u202Egnp.exe\u202C';
  const long = 'W'.repeat(3000);
  const { page, context, faults } = await openPage(browser, monitor.url);
  await live(page);
  const agents = [];
  for (const [index, name] of [hostile, `bidi ${backwards}`, 'constructor', '__proto__'].entries()) {
    agents.push(await agentClient(monitor.url, { id: agentId(20 + index), name, host: hostile, version: hostile }));
  }
  const endless = await agentClient(monitor.url, { id: agentId(30), name: `endless ${long}`.slice(0, 200), cwd: `/${long}` });
  agents.push(endless);
  const of = page.getByRole('row').filter({ hasText: hostile }).first();
  await of.waitFor();
  await page.locator(`[data-open="${agentId(20)}"]`).click();
  const details = page.getByRole('complementary');
  agents[0].enter('r1', { agent: hostile });
  agents[0].log({ id: 1, kind: hostile, name: `${backwards}${hostile}`, runId: 'r1', text: long });
  agents[0].exit('r1', { outcome: 'failed', ok: false, error: hostile });
  await details.getByRole('log').getByText('onerror').first().waitFor();
  await noSidewaysScroll(page, 'a hostile log line');
  await page.locator(`[data-open="${agentId(30)}"]`).click();
  await page.getByRole('complementary').getByText('WWWW').first().waitFor();
  await noSidewaysScroll(page, 'an endless folder');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.title(), 'watchbill');
  for (const agent of agents) await agent.close();
  await context.close();
  assert.deepEqual(faults, []);
});
