// The supervisor's page: who gets in, how it looks, what cannot hurt it, and the connection that comes back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rpcClient } from '../support/rpc.mjs';
import { exampleAgent, sdkAgent, spawnSupervisor } from '../support/supervisor.mjs';
import { agentRow, answered, answers, box, hasSpoken, openChat, option, say } from './chat.mjs';
import { live, noSidewaysScroll, noViolations, openPage, patience, until } from './harness.mjs';

let chat;
const open = (agent, options) => chat.open(agent, options);
before(async () => {
  chat = await openChat([
    exampleAgent('example', { title: 'Harbour', description: 'Keeps the berth list.' }),
    sdkAgent('sdk', { title: 'SDK agent' }),
    exampleAgent('second', { title: 'Second harbour' }),
    { name: 'broken', title: 'Broken', command: '/nowhere/agent' },
    exampleAgent('quick', { title: 'Quick harbour' }, ['--word-ms', '0']),
  ]);
});
after(() => chat?.close());

// A conversation with all that an answer is made of.
async function hasBeenAsked(agent, question, answer) {
  const { page, context } = await open(agent);
  await say(page, question);
  await option(page, answer);
  await answered(page);
  await context.close();
}

async function hasFailed(agent) {
  const { page, context } = await open(agent);
  await say(page, 'Is anybody there?');
  await page.locator('.message.unavailable').waitFor();
  await context.close();
}

test('without the link the page says what to open, and finds out when it was', { timeout: patience(60_000) }, async () => {
  const other = await spawnSupervisor({ config: { agents: [exampleAgent('only')] } });
  const { page, context } = await openPage(chat.browser, other.url);
  await page.getByRole('heading', { name: 'Open the link' }).waitFor();
  await page.getByText('It printed a link that works once').waitFor();
  await page.locator('.pill[data-connection="refused"]').waitFor();
  await noViolations(page, 'the page without a session');
  assert.equal((await page.request.get(`${other.url}/session`)).status(), 401);

  const link = await context.newPage();
  await link.goto(other.link);
  await live(link);
  assert.equal(new URL(link.url()).pathname, '/');
  assert.equal((await page.request.get(`${other.url}/session`)).status(), 204);
  await page.bringToFront();
  // It may find out by itself meanwhile, and then there is nothing to press.
  const again = page.getByRole('button', { name: 'try again' });
  await Promise.race([live(page), again.click().then(() => live(page), () => live(page))]);
  // The only agent is chosen by itself.
  await box(page).waitFor();
  assert.equal(new URL(page.url()).hash, '#agent=only');

  // Used up: nobody else comes in by it.
  const late = await fetch(other.link, { redirect: 'manual' });
  assert.equal(late.headers.get('set-cookie'), null);
  await context.close();
  await other.stop();
});

test('every target is at least 24 pixels, and shows the focus', { timeout: patience(60_000) }, async () => {
  await hasSpoken(chat.supervisor, 'second');
  const { page, context, faults } = await open('second');
  await say(page, '/ask');
  await page.locator('.permission').waitFor();
  const small = await page.locator('button:visible, select:visible, summary:visible, textarea:visible, .agent-link:visible').evaluateAll((all) =>
    all.map((one) => ({ what: one.textContent || one.tagName, box: one.getBoundingClientRect() })).filter(({ box }) => box.width < 24 || box.height < 24),
  );
  assert.deepEqual(small, []);
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const bare = await page.evaluate(() => {
      const one = document.activeElement;
      // The field is a part of the box around it.
      const seen = one.closest('.composer-box textarea') ? one.closest('.composer-box') : one;
      const { outlineStyle, outlineWidth } = getComputedStyle(seen);
      return one === document.body || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) ? null : one.outerHTML.slice(0, 200);
    });
    assert.equal(bare, null);
  }
  await page.locator('.option[data-kind="reject_once"]').click();
  await answered(page);
  assert.deepEqual(faults, []);
  await context.close();
});

test('both themes and both languages are readable by everybody', { timeout: patience(120_000) }, async () => {
  await hasBeenAsked('example', 'What is at the berths?', /^Allow once/);
  await hasBeenAsked('sdk', 'Change the configuration.', /^Allow this change/);
  await hasFailed('broken');
  for (const [colorScheme, locale, states] of [
    ['light', 'en-GB', /^(stopped|starting…|ready|busy|error)$/],
    ['dark', 'fr-FR', /^(arrêté|démarre…|prêt|occupé|erreur)$/],
  ]) {
    const { page, context, faults } = await open('second', { colorScheme, locale });
    await say(page, '/ask');
    await page.locator('.permission').waitFor();
    await box(page).fill('/');
    await page.locator('.command-list').waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), locale.slice(0, 2));
    for (const state of await page.locator('.side .chip[data-agent-state]').allInnerTexts()) assert.match(state, states);
    await noViolations(page, `a question, ${colorScheme}, ${locale}`);
    await box(page).fill('');
    await page.locator('.option[data-kind="reject_once"]').click();
    await answered(page);
    for (const agent of ['example', 'sdk', 'broken']) {
      await agentRow(page, agent).getByRole('link').click();
      await page.locator('.messages').waitFor();
      await noViolations(page, `${agent}, ${colorScheme}, ${locale}`);
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await noViolations(page, `help, ${colorScheme}, ${locale}`);
    assert.deepEqual(faults, []);
    await context.close();
  }
});

test('at 320 px nothing is wider than the window, and the panels are drawers', { timeout: patience(60_000) }, async () => {
  await hasSpoken(chat.supervisor, 'example', 'second');
  for (const height of [640, 256]) {
    const { page, context, faults } = await open('example', { viewport: { width: 320, height }, locale: 'fr-FR' });
    await answers(page).last().waitFor();
    await noSidewaysScroll(page, `the conversation at 320 × ${height}`);
    assert.equal(await page.locator('.side').count(), 0);
    await page.getByRole('button', { name: 'Agents', exact: true }).click();
    const agents = page.getByRole('dialog', { name: 'Agents' });
    await agents.waitFor();
    await noSidewaysScroll(page, 'the drawer of the agents');
    await agents.getByRole('link', { name: /Second harbour/ }).click();
    await agents.waitFor({ state: 'detached' });
    await page.locator('.conversation-head h2', { hasText: 'Second harbour' }).waitFor();
    await page.getByRole('button', { name: 'Détails' }).click();
    const about = page.getByRole('dialog', { name: 'Détails' });
    await about.getByRole('button', { name: 'Écrire /plan' }).click();
    await about.waitFor({ state: 'detached' });
    assert.equal(await box(page).inputValue(), '/plan ');
    await noSidewaysScroll(page, `the second conversation at 320 × ${height}`);
    await box(page).fill('');
    assert.deepEqual(faults, []);
    await context.close();
  }
});

test('hostile Markdown stays text, and the page stays alive', { timeout: patience(90_000) }, async () => {
  const { page, context, faults } = await open('second');
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await say(
    page,
    [
      '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>',
      '[click](javascript:window.hacked=1) [data](data:text/html,hi) ![seen](https://tracker.example/x.png)',
      '[good](https://good.example/a) <https://auto.example> <a href="https://raw.example">raw</a>',
      `${'>'.repeat(3000)} deep`,
      '[a]: javascript:window.hacked=1',
      '[a]',
      '\u202Egnp.exe',
    ].join('\n\n'),
  );
  const mine = page.locator('.message.user').last();
  await mine.getByText('<script>window.hacked=1</script>').waitFor();
  await option(page, /^Reject/);
  await answered(page);
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.equal(await page.locator('.messages :is(img, script, iframe, object, style)').count(), 0);
  for (const href of await page.locator('.messages a').evaluateAll((all) => all.map((link) => link.href))) assert.match(href, /^(https?:|mailto:)/);
  await mine.getByRole('link', { name: 'seen' }).waitFor();
  assert.equal(await mine.getByRole('link', { name: 'raw', exact: true }).count(), 0);
  assert.deepEqual(asked, []);

  // What a parser chokes on, said back by an agent that does not stop for breath: the page answers a press all the same.
  await agentRow(page, 'quick').getByRole('link').click();
  await page.locator('.conversation-head h2', { hasText: 'Quick harbour' }).waitFor();
  await page.locator('.messages').waitFor();
  const program = await rpcClient(chat.supervisor);
  const { id } = await program.call('ChannelService.Direct', 'quick');
  for (const unit of ['[', '*a ', '- a\n', '`', '![', 'a\n']) {
    const before = await answers(page).count();
    // Not by the keyboard: typing thousands of lines takes the browser longer than drawing them.
    await program.call('ChannelService.Send', id, unit.repeat(Math.ceil(12_000 / unit.length)));
    await until('an answer to begin', async () => (await answers(page).count()) > before);
    await option(page, /^Reject/);
    await answered(page);
  }
  program.close();
  await page.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('dialog', { name: 'Help' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a frame that is lost on the way is made up for while the answer goes on', { timeout: patience(60_000) }, async () => {
  const context = await chat.browser.newContext({ storageState: chat.signedIn, locale: 'en-GB' });
  const page = await context.newPage();
  let lost = null;
  let conversations = 0;
  await page.routeWebSocket(/\/rpc$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((data) => {
      if (JSON.parse(data).method === 'ChannelService.Conversation') conversations++;
      server.send(data);
    });
    let deltas = 0;
    server.onMessage((data) => {
      const { method, params } = JSON.parse(data);
      if (method === 'message:delta' && params.kind === 'text' && ++deltas === 12) lost = params;
      else socket.send(data);
    });
  });
  await page.goto(`${chat.supervisor.url}/#agent=second`);
  await live(page);
  await page.locator('.messages').waitFor();
  await say(page, '/tale 2000');
  await until('a frame to be lost', () => lost, 20_000);
  await until('the conversation to be asked for again', () => conversations >= 2);
  const answer = answers(page).last();
  const shown = async () => (await answer.locator('.words').innerText()).trim().replace(/\s+/g, ' ');
  await until('the words after it', async () => (await shown()).length > 200);
  const inTheMiddle = await shown();
  assert.equal(await answer.getAttribute('aria-busy'), 'true');
  await page.getByRole('button', { name: 'Stop the answer of Second harbour' }).click();
  await answered(page);
  assert.ok((await shown()).startsWith(inTheMiddle), inTheMiddle);
  assert.ok(conversations < 5, `${conversations} times`);
  await context.close();
});

test('a supervisor that comes back has kept the conversation and knows the browser', { timeout: patience(90_000) }, async () => {
  const first = await spawnSupervisor({ config: { agents: [exampleAgent('only', { title: 'Only' })] } });
  const { page, context } = await openPage(chat.browser, first.link);
  await live(page);
  await page.locator('.messages').waitFor();
  await say(page, '/plan the week');
  await answered(page);
  await page.locator('.message.agent .plan').waitFor();
  await first.end();
  await page.locator('.pill[data-connection="lost"]').waitFor();
  await page.locator('.stale-notice').waitFor();
  await box(page).fill('not now');
  await box(page).press('Enter');
  await page.locator('.outcome-line', { hasText: 'There is no connection to the supervisor.' }).waitFor();
  assert.equal(await box(page).inputValue(), 'not now');
  const second = await spawnSupervisor({ folder: first.folder, port: first.port });
  await page.locator('.pill[data-connection="live"]').waitFor({ timeout: patience(40_000) });
  assert.equal(await page.locator('.message').count(), 2);
  await box(page).press('Enter');
  await option(page, /^Allow once/);
  await answered(page);
  assert.equal(await page.locator('.message').count(), 4);
  await context.close();
  await second.stop();
});

test('the configuration’s language and theme hold until somebody chooses, and its faults are shown with their place', { timeout: patience(60_000) }, async () => {
  const other = await spawnSupervisor({ config: 'theme: dark\nlanguage: fr\ncolour: red\nagents:\n  - name: only\n    command: /nowhere/agent\n' });
  const { page, context } = await openPage(chat.browser, other.link);
  await live(page);
  await until('French', async () => (await page.locator('html').getAttribute('lang')) === 'fr');
  await until('the dark theme', async () => (await page.locator('html').getAttribute('data-theme')) === 'dark');
  await page.locator('.banner summary').click();
  await page.locator('.banner', { hasText: /supervisor\.yaml:3:1/ }).waitFor();
  await page.getByLabel('Langue').selectOption('en');
  await page.getByLabel('Theme').selectOption('light');
  await page.reload();
  await live(page);
  await page.locator('.banner').waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
  await context.close();
  await other.stop();
});
