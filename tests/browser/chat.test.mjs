// The supervisor's page: talking to agents that are real processes behind a real supervisor.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endLeftSupervisors, exampleAgent, rpcClient, sdkAgent, spawnSupervisor } from '../support/supervisor.mjs';
import { launch, live, noSidewaysScroll, noViolations, openPage, until } from './harness.mjs';

let browser;
let supervisor;
let signedIn;
before(async () => {
  browser = await launch();
  supervisor = await spawnSupervisor({
    config: {
      agents: [
        exampleAgent('example', { title: 'Harbour', description: 'Keeps the berth list.' }),
        sdkAgent('sdk', { title: 'SDK agent' }),
        exampleAgent('second', { title: 'Second harbour' }),
        { name: 'broken', title: 'Broken', command: '/nowhere/agent' },
        exampleAgent('quick', { title: 'Quick harbour' }, ['--word-ms', '0']),
        exampleAgent('long', {}, ['--word-ms', '0']),
      ],
    },
  });
  // The link works once; what it gives is used by every page of this file.
  const { context } = await openPage(browser, supervisor.link);
  signedIn = await context.storageState();
  await context.close();
});
after(async () => {
  await browser?.close();
  await endLeftSupervisors();
});

const open = async (agent, options = {}) => {
  const hash = agent ? `#agent=${agent}` : '';
  const opened = await openPage(browser, `${supervisor.url}/${hash}`, { storageState: signedIn, ...options });
  await live(opened.page);
  if (agent) await opened.page.locator('.messages').waitFor();
  return opened;
};
const box = (page) => page.locator('.composer textarea');
const agentRow = (page, name) => page.locator(`.side [data-agent="${name}"]`);
const answers = (page) => page.locator('.message.agent');
const stateOf = (page, name) => agentRow(page, name).locator('.chip[data-agent-state]');

async function say(page, text) {
  await box(page).fill(text);
  await box(page).press('Enter');
  await page.locator('.message.user').last().waitFor();
}

// The last answer, once it is over.
async function answered(page) {
  const last = answers(page).last();
  await until('the answer to end', async () => (await last.getAttribute('aria-busy')) === 'false', 30_000);
  return last;
}

async function option(page, name) {
  const card = page.locator('.permission');
  await card.waitFor({ timeout: 20_000 });
  await card.getByRole('button', { name }).click();
}

async function restful(page, name) {
  await until(`${name} to be at rest`, async () => ['ready', 'stopped'].includes(await stateOf(page, name).getAttribute('data-agent-state')), 20_000);
}

// An agent's commands are known as soon as it has been talked to.
async function hasSpoken(...agents) {
  const program = await rpcClient(supervisor);
  for (const agent of agents) {
    const { id } = await program.call('ChannelService.Direct', agent);
    const { messages } = await program.call('ChannelService.Conversation', id);
    if (messages.length === 0) await program.call('ChannelService.Send', id, '/plan the day');
    await until(`${agent} to have spoken`, async () => !(await program.call('ChannelService.Conversation', id)).busy, 30_000);
  }
  program.close();
}

test('without the link the page says what to open, and finds out when it was', { timeout: 60_000 }, async () => {
  const other = await spawnSupervisor({ config: { agents: [exampleAgent('only')] } });
  const { page, context } = await openPage(browser, other.url);
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
  const again = page.getByRole('button', { name: 'try again' });
  if (await again.isVisible()) await again.click();
  await live(page);
  // The only agent is chosen by itself.
  await box(page).waitFor();
  assert.equal(new URL(page.url()).hash, '#agent=only');

  // Used up: nobody else comes in by it.
  const late = await fetch(other.link, { redirect: 'manual' });
  assert.equal(late.headers.get('set-cookie'), null);
  await context.close();
  await other.stop();
});

test('an answer streams in: plan, diff, question, table, commands and usage', { timeout: 90_000 }, async () => {
  const { page, context, faults } = await open('example');
  await page.getByText('Nothing has been said yet.').waitFor();
  await say(page, 'What is at the berths?');
  assert.equal(await box(page).inputValue(), '');
  const answer = answers(page).last();
  await answer.locator('.plan').waitFor();
  // Seen while it is being written, and said to nobody yet.
  await answer.getByRole('heading', { name: 'The berth list' }).waitFor();
  assert.equal(await answer.getAttribute('aria-busy'), 'true');
  assert.equal((await page.locator('[data-announcer]').innerText()).trim(), '');
  await answer.locator('.words blockquote', { hasText: 'What is at the berths?' }).waitFor();

  const card = page.locator('.permission');
  await card.waitFor();
  assert.match(await page.title(), /^\(1\) Harbour/);
  await page.locator('.question-bar', { hasText: '1 question waits for your answer' }).waitFor();
  await card.getByRole('heading', { name: 'Harbour asks for your permission' }).waitFor();
  assert.match(await card.locator('.diff').innerText(), /berths\.txt[\s\S]*−\s*3 Coot\s*\+\s*3 free/);
  // Nothing is chosen for the reader, and what comes first allows nothing.
  assert.equal(await page.evaluate(() => document.activeElement?.closest('.permission') === null), true);
  assert.deepEqual(
    await card.locator('.option').evaluateAll((all) => all.map((button) => [button.dataset.kind, button.textContent.trim()])),
    [
      ['reject_once', 'Reject refuses it once'],
      ['reject_always', 'Never allow refuses it from now on'],
      ['allow_once', 'Allow once allows it once'],
      ['allow_always', 'Always allow allows it from now on'],
    ],
  );
  await option(page, /^Allow once/);
  await answer.locator('.answered', { hasText: 'you answered “Allow once”' }).waitFor();
  await answered(page);
  assert.doesNotMatch(await page.title(), /^\(/);
  await answer.getByText('The line of berth 3 is corrected.').waitFor();
  assert.equal(await answer.locator('table tbody tr').count(), 3);
  assert.match(await answer.locator('.code pre').innerText(), /sort -k2 -n berths\.txt/);
  // A link that leads out, and says so to the browser.
  const link = answer.getByRole('link', { name: 'Agent Client Protocol' });
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
  assert.equal(await link.getAttribute('target'), '_blank');
  // All steps are done: the plan folds.
  await until('the plan to fold', () => answer.locator('.plan details').evaluate((details) => !details.open));
  assert.match(await answer.locator('.plan summary').innerText(), /3 of 3 done/);
  await until('the answer to be said', async () => /Harbour answered\. /.test(await page.locator('[data-announcer]').innerText()));

  const about = page.getByRole('complementary', { name: 'Details of Harbour' });
  await about.getByText(/[\d,]+ of 200,000 tokens/).waitFor();
  await about.getByText('Keeps the berth list.').waitFor();
  assert.deepEqual(await about.locator('.about-commands .button').allInnerTexts(), ['/plan', '/tale', '/ask']);
  assert.deepEqual(faults, []);
  await context.close();
});

test('the SDK’s agent is allowed, and refused', { timeout: 90_000 }, async () => {
  const { page, context, faults } = await open('sdk');
  await say(page, 'Change the configuration.');
  await option(page, /^Allow this change/);
  let answer = await answered(page);
  assert.ok((await answer.innerText()).trimEnd().endsWith("Perfect! I've successfully updated the configuration. The changes have been applied."));
  await answer.locator('.tool', { hasText: 'Reading project files' }).locator('summary').click();
  await answer.getByText('This is a sample project...').first().waitFor();

  await say(page, 'Change it once more.');
  await option(page, /^Skip this change/);
  answer = await answered(page);
  assert.match(await answer.innerText(), /I understand you prefer not to make that change\. I'll skip the configuration update\.\s*$/);
  assert.equal(await answers(page).count(), 2);
  assert.deepEqual(faults, []);
  await context.close();
});

test('Stop ends an answer and what waits behind it', { timeout: 60_000 }, async () => {
  const { page, context, faults } = await open('second');
  await say(page, '/tale 5000');
  await answers(page).last().getByText('The tide came').or(answers(page).last().getByText('the tide came')).first().waitFor();
  // Written meanwhile: it waits, and says so.
  await say(page, 'And then?');
  const waiting = page.locator('.message.user').last();
  await waiting.locator('.chip[data-queued]').waitFor();
  await page.locator('.turn-line', { hasText: '1 message waits' }).waitFor();
  await box(page).press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement?.classList.contains('stop')), true);
  await page.keyboard.press('Enter');
  await page.locator('.ending[data-reason="cancelled"]', { hasText: 'Stopped before the end.' }).waitFor();
  await waiting.getByText('Not sent: cancelled by Stop.').waitFor();
  assert.equal(await page.locator('.composer .stop').count(), 0);
  const words = await answers(page).last().innerText();
  await restful(page, 'second');
  assert.equal(await answers(page).last().innerText(), words);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a reload in mid-stream loses nothing: words, question, draft and place', { timeout: 60_000 }, async () => {
  const { page, context, faults } = await open('second');
  await say(page, '/ask');
  await page.locator('.permission').waitFor();
  await box(page).fill('a draft');
  const before = await page.locator('.message').count();
  await page.reload();
  await live(page);
  await page.locator('.permission').waitFor();
  assert.equal(await page.locator('.message').count(), before);
  assert.equal(await box(page).inputValue(), 'a draft');
  // Who asks is told from another conversation as well, and the way back is the browser's own.
  await agentRow(page, 'example').getByRole('link').click();
  await page.locator('.conversation-head h2', { hasText: 'Harbour' }).waitFor();
  await agentRow(page, 'second').getByText('needs you').waitFor();
  assert.match(await page.title(), /^\(1\) Harbour/);
  await page.goBack();
  await option(page, /^Reject/);
  await answered(page);
  await answers(page).last().getByText('It is not allowed').waitFor();
  await page.reload();
  await live(page);
  await answers(page).last().getByText('It is not allowed').waitFor();
  assert.equal(await page.locator('.message').count(), before);
  assert.deepEqual(faults, []);
  await context.close();
});

test('▶ starts, ■ stops, and a start that fails says why in full', { timeout: 60_000 }, async () => {
  const { page, context, faults } = await open('second');
  const start = agentRow(page, 'second').getByRole('button', { name: 'Start Second harbour' });
  const stop = agentRow(page, 'second').getByRole('button', { name: 'Stop Second harbour' });
  const off = (button) => until('the button to be off', async () => (await button.getAttribute('aria-disabled')) === 'true');
  const on = (button) => until('the button to be on', async () => (await button.getAttribute('aria-disabled')) === null);
  await restful(page, 'second');
  if ((await stateOf(page, 'second').innerText()) === 'stopped') {
    await start.click();
    await until('it to be ready', async () => (await stateOf(page, 'second').innerText()) === 'ready');
  }
  await off(start);
  await on(stop);
  await stop.click();
  await until('it to be stopped', async () => (await stateOf(page, 'second').innerText()) === 'stopped', 15_000);
  await on(start);
  await off(stop);
  await start.click();
  await until('it to be ready', async () => (await stateOf(page, 'second').innerText()) === 'ready', 15_000);
  await page.locator('.outcome-line', { hasText: 'Second harbour is ready.' }).waitFor();

  await agentRow(page, 'broken').getByRole('link').click();
  await agentRow(page, 'broken').getByRole('button', { name: 'Start Broken' }).click();
  await until('it to be in error', async () => (await stateOf(page, 'broken').innerText()) === 'error');
  await page.locator('.outcome-line[data-bad="true"]', { hasText: 'Broken was not started.' }).waitFor();
  await page.locator('.agent-fault', { hasText: '/nowhere/agent' }).waitFor();
  await page.locator('.about-error', { hasText: '/nowhere/agent' }).waitFor();
  await say(page, 'Is anybody there?');
  const message = page.locator('.message.unavailable').last();
  await message.getByText('/nowhere/agent').waitFor();
  await message.getByRole('button', { name: 'Start again' }).click();
  await page.locator('.outcome-line[data-bad="true"]', { hasText: 'Broken was not started.' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('the keyboard alone is enough', { timeout: 60_000 }, async () => {
  await hasSpoken('second');
  const { page, context, faults } = await open(null);
  await page.getByRole('heading', { name: 'Choose an agent' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the conversation');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'conversation');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Help' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.locator('.conversation-head h2', { hasText: 'Harbour' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.locator('.conversation-head h2', { hasText: 'Second harbour' }).waitFor();
  await page.locator('.messages').waitFor();
  await page.keyboard.press('c');
  await until('the composer to have the focus', () => page.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));

  // A letter is a letter there; a slash opens the list, and the field names what is chosen in it.
  await page.keyboard.type('/');
  const list = page.getByRole('listbox', { name: 'Commands' });
  await list.waitFor();
  const chosen = () => box(page).evaluate((field) => document.getElementById(field.getAttribute('aria-activedescendant'))?.querySelector('code')?.textContent.trim().split(' ')[0]);
  assert.equal(await chosen(), '/plan');
  await page.keyboard.press('ArrowDown');
  assert.equal(await chosen(), '/tale');
  await noViolations(page, 'the list of commands');
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await page.keyboard.press('Backspace');
  await page.keyboard.type('/a');
  await list.waitFor();
  await page.keyboard.press('Tab');
  await list.waitFor({ state: 'detached' });
  assert.equal(await box(page).inputValue(), '/ask ');
  await page.keyboard.press('Enter');
  await page.locator('.permission').waitFor();

  // Shift+Enter begins a line, and an input method's Enter is its own.
  await page.keyboard.type('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await box(page).evaluate((field) => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true })));
  assert.equal(await box(page).inputValue(), 'one\ntwo');
  await box(page).fill('');
  await page.keyboard.press('Escape');
  await page.keyboard.press('p');
  await until('the question to have the focus', () => page.evaluate(() => document.activeElement?.classList.contains('permission')));
  const focusedKind = () => page.evaluate(() => document.activeElement?.dataset.kind ?? null);
  await until('the first answer', async () => {
    await page.keyboard.press('Tab');
    return focusedKind();
  });
  assert.equal(await focusedKind(), 'reject_once');
  await page.keyboard.press('Enter');
  await page.locator('.permission').waitFor({ state: 'detached' });
  await until('the composer to have the focus again', () => page.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'));
  await answered(page);
  assert.deepEqual(faults, []);
  await context.close();
});

test('every target is at least 24 pixels, and shows the focus', { timeout: 60_000 }, async () => {
  await hasSpoken('second');
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

test('both themes and both languages are readable by everybody', { timeout: 90_000 }, async () => {
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

test('at 320 px nothing is wider than the window, and the panels are drawers', { timeout: 60_000 }, async () => {
  await hasSpoken('example', 'second');
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

test('hostile Markdown stays text, and the page stays alive', { timeout: 90_000 }, async () => {
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
  const program = await rpcClient(supervisor);
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

test('a long answer is followed at the foot, and let alone by who reads further up', { timeout: 60_000 }, async () => {
  const { page, context, faults } = await open('second', { viewport: { width: 1200, height: 500 } });
  await say(page, '/tale 1500');
  const answer = answers(page).last();
  const fromFoot = () => page.locator('.messages').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  await until('the answer to be longer than the window', () => answer.evaluate((message) => message.offsetHeight > 400), 30_000);
  assert.ok((await fromFoot()) < 60);
  assert.equal(await page.locator('.messages-frame .newer').count(), 0);
  await page.locator('.messages').evaluate((box) => box.scrollBy(0, -300));
  await page.getByRole('button', { name: 'New messages' }).waitFor();
  const top = await page.locator('.messages').evaluate((box) => box.scrollTop);
  const length = (await answer.innerText()).length;
  await until('more words', async () => (await answer.innerText()).length > length + 100);
  assert.equal(await page.locator('.messages').evaluate((box) => box.scrollTop), top);
  await page.getByRole('button', { name: 'New messages' }).click();
  await until('the foot', async () => (await fromFoot()) < 60);
  await page.getByRole('button', { name: 'Stop the answer of Second harbour' }).click();
  await page.locator('.ending[data-reason="cancelled"]').last().waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a long conversation is loaded from its end, and what is above moves nothing', { timeout: 90_000 }, async () => {
  const program = await rpcClient(supervisor);
  const { id } = await program.call('ChannelService.Direct', 'long');
  for (let at = 0; at < 60; at++) await program.call('ChannelService.Send', id, `/nothing-${at}`);
  const rest = async () => {
    const { busy, queued } = await program.call('ChannelService.Conversation', id);
    return !busy && queued === 0;
  };
  await until('sixty answers', rest, 60_000);
  program.close();

  const { page, context, faults } = await open('long');
  await page.locator('.message').last().waitFor();
  assert.equal(await page.locator('.message').count(), 100);
  await page.locator('.messages').evaluate((box) => box.scrollTo(0, 0));
  const first = page.locator(`[data-message="${await page.locator('.message').first().getAttribute('data-message')}"]`);
  const before = await first.boundingBox();
  await page.getByRole('button', { name: 'Older messages' }).click();
  await until('all messages', async () => (await page.locator('.message').count()) === 120);
  // The button went, and what was read stayed where it was.
  assert.equal(await page.getByRole('button', { name: 'Older messages' }).count(), 0);
  assert.ok(Math.abs((await first.boundingBox()).y - before.y) < 2);
  assert.match(await page.locator('.message').first().innerText(), /\/nothing-0\b/);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a frame that is lost on the way is made up for while the answer goes on', { timeout: 60_000 }, async () => {
  const context = await browser.newContext({ storageState: signedIn, locale: 'en-GB' });
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
  await page.goto(`${supervisor.url}/#agent=second`);
  await live(page);
  await page.locator('.messages').waitFor();
  await say(page, '/tale 400');
  await until('a frame to be lost', () => lost, 20_000);
  await until('the conversation to be asked for again', () => conversations >= 2);
  const answer = answers(page).last();
  const shown = async () => (await answer.locator('.words').innerText()).trim().replace(/\s+/g, ' ');
  await until('the words after it', async () => (await shown()).length > 200);
  const inTheMiddle = await shown();
  assert.equal(await answer.getAttribute('aria-busy'), 'true');
  await answered(page);
  assert.ok((await shown()).startsWith(inTheMiddle), inTheMiddle);
  assert.ok(conversations < 5, `${conversations} times`);
  await context.close();
});

test('a supervisor that comes back has kept the conversation and knows the browser', { timeout: 90_000 }, async () => {
  const first = await spawnSupervisor({ config: { agents: [exampleAgent('only', { title: 'Only' })] } });
  const { page, context } = await openPage(browser, first.link);
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
  await page.locator('.pill[data-connection="live"]').waitFor({ timeout: 40_000 });
  assert.equal(await page.locator('.message').count(), 2);
  await box(page).press('Enter');
  await option(page, /^Allow once/);
  await answered(page);
  assert.equal(await page.locator('.message').count(), 4);
  await context.close();
  await second.stop();
});

test('the configuration’s language and theme hold until somebody chooses, and its faults are shown with their place', { timeout: 60_000 }, async () => {
  const other = await spawnSupervisor({ config: 'theme: dark\nlanguage: fr\ncolour: red\nagents:\n  - name: only\n    command: /nowhere/agent\n' });
  const { page, context } = await openPage(browser, other.link);
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
