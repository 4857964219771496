// The supervisor's page: talking to agents that are real processes behind a real supervisor.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rpcClient } from '../support/rpc.mjs';
import { exampleAgent, sdkAgent } from '../support/supervisor.mjs';
import { agentRow, answered, answers, box, hasSpoken, openChat, option, restful, say, stateOf } from './chat.mjs';
import { live, noViolations, patience, until } from './harness.mjs';

let chat;
const open = (agent, options) => chat.open(agent, options);
before(async () => {
  chat = await openChat([
    exampleAgent('example', { title: 'Harbour', description: 'Keeps the berth list.' }),
    sdkAgent('sdk', { title: 'SDK agent' }),
    exampleAgent('second', { title: 'Second harbour' }),
    { name: 'broken', title: 'Broken', command: '/nowhere/agent' },
    exampleAgent('long', {}, ['--word-ms', '0']),
  ]);
});
after(() => chat?.close());

test('an answer streams in: plan, diff, question, table, commands and usage', { timeout: patience(90_000) }, async () => {
  const { page, context, faults } = await open('example', { viewport: { width: 1440, height: 620 } });
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
  await until('the title to count it', async () => /^\(1\) Harbour/.test(await page.title()));
  await page.locator('.question-bar', { hasText: '1 question waits for your answer' }).waitFor();
  // Followed to the foot, however much came at once: the answers to choose from are in sight.
  await until('the foot', () => page.locator('.messages').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 40));
  await page.locator('.messages-frame .newer').waitFor({ state: 'detached' });
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
  await until('the title to count none', async () => !/^\(/.test(await page.title()));
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

test('the SDK’s agent is allowed, and refused', { timeout: patience(90_000) }, async () => {
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

test('Stop ends an answer and what waits behind it', { timeout: patience(60_000) }, async () => {
  const { page, context, faults } = await open('second');
  await say(page, '/tale 5000');
  await answers(page).last().getByText('The tide came').or(answers(page).last().getByText('the tide came')).first().waitFor();
  // Written meanwhile: it waits, and says so.
  await say(page, 'And then?');
  const waiting = page.locator('.message.user').last();
  await waiting.locator('.chip[data-queued]').waitFor();
  await page.locator('.turn-line', { hasText: '1 message waits' }).waitFor();
  await box(page).press('Escape');
  await until('the focus to be on the button', () => page.evaluate(() => document.activeElement?.classList.contains('stop')));
  await page.keyboard.press('Enter');
  await page.locator('.ending[data-reason="cancelled"]', { hasText: 'Stopped before the end.' }).waitFor();
  await waiting.getByText('Not sent: cancelled by Stop.').waitFor();
  await page.locator('.composer .stop').waitFor({ state: 'detached' });
  const words = await answers(page).last().innerText();
  await restful(page, 'second');
  assert.equal(await answers(page).last().innerText(), words);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a reload in mid-stream loses nothing: words, question, draft and place', { timeout: patience(60_000) }, async () => {
  const { page, context, faults } = await open('second');
  await say(page, '/ask');
  // In its message: a question may be drawn before what asks it.
  await answers(page).last().locator('.permission').waitFor();
  await box(page).fill('a draft');
  const before = await page.locator('.message').count();
  await page.reload();
  await live(page);
  await answers(page).last().locator('.permission').waitFor();
  assert.equal(await page.locator('.message').count(), before);
  assert.equal(await box(page).inputValue(), 'a draft');
  // Who asks is told from another conversation as well, and the way back is the browser's own.
  await agentRow(page, 'example').getByRole('link').click();
  await page.locator('.conversation-head h2', { hasText: 'Harbour' }).waitFor();
  await agentRow(page, 'second').getByText('needs you').waitFor();
  await until('the title to count it', async () => /^\(1\) Harbour/.test(await page.title()));
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

test('▶ starts, ■ stops, and a start that fails says why in full', { timeout: patience(60_000) }, async () => {
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

test('the keyboard alone is enough', { timeout: patience(60_000) }, async () => {
  await hasSpoken(chat.supervisor, 'second');
  const { page, context, faults } = await open(null);
  await page.getByRole('heading', { name: 'Choose an agent' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the conversation');
  await page.keyboard.press('Enter');
  await until('the conversation to have the focus', () => page.evaluate(() => document.activeElement?.id === 'conversation'));
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

test('a long answer is followed at the foot, and let alone by who reads further up', { timeout: patience(60_000) }, async () => {
  const { page, context, faults } = await open('second', { viewport: { width: 1200, height: 500 } });
  await say(page, '/tale 1500');
  const answer = answers(page).last();
  const fromFoot = () => page.locator('.messages').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  await until('the answer to be longer than the window', () => answer.evaluate((message) => message.offsetHeight > 400), 30_000);
  await until('the foot', async () => (await fromFoot()) < 60);
  await page.locator('.messages-frame .newer').waitFor({ state: 'detached' });
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

test('a long conversation is loaded from its end, and what is above moves nothing', { timeout: patience(90_000) }, async () => {
  const program = await rpcClient(chat.supervisor);
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
  await page.getByRole('button', { name: 'Older messages' }).waitFor({ state: 'detached' });
  await until('what was read to be where it was', async () => Math.abs((await first.boundingBox()).y - before.y) < 2);
  assert.match(await page.locator('.message').first().innerText(), /\/nothing-0\b/);
  assert.deepEqual(faults, []);
  await context.close();
});
