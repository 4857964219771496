// A supervisor with agents and a browser that is let in: what the tests of its page share.
import { endLeftSupervisors, spawnSupervisor } from '../support/supervisor.mjs';
import { rpcClient } from '../support/rpc.mjs';
import { launch, live, openPage, patience, until } from './harness.mjs';

// `open(agent)` gives a page on the conversation with that agent, or, with null, on none.
// `close()` ends every supervisor of the file.
export async function openChat(agents) {
  const supervisor = await spawnSupervisor({ config: { agents } });
  let browser;
  let signedIn;
  const open = async (agent, options = {}) => {
    const hash = agent ? `#agent=${agent}` : '';
    const opened = await openPage(browser, `${supervisor.url}/${hash}`, { storageState: signedIn, ...options });
    await live(opened.page);
    if (agent) await opened.page.locator('.messages').waitFor();
    return opened;
  };
  const close = async () => {
    await browser?.close();
    await endLeftSupervisors();
  };
  try {
    browser = await launch();
    // The link works once; what it gives is used by every page.
    const { context } = await openPage(browser, supervisor.link);
    signedIn = await context.storageState();
    await context.close();
  } catch (error) {
    await close();
    throw error;
  }
  return { browser, supervisor, signedIn, open, close };
}

export const box = (page) => page.locator('.composer textarea');
export const agentRow = (page, name) => page.locator(`.side [data-agent="${name}"]`);
export const answers = (page) => page.locator('.message.agent');
export const stateOf = (page, name) => agentRow(page, name).locator('.chip[data-agent-state]');

export async function say(page, text) {
  await box(page).fill(text);
  await box(page).press('Enter');
  await page.locator('.message.user').last().waitFor();
}

// The last answer, once it is over.
export async function answered(page) {
  const last = answers(page).last();
  await until('the answer to end', async () => (await last.getAttribute('aria-busy')) === 'false', 30_000);
  return last;
}

export async function option(page, name) {
  const card = page.locator('.permission');
  await card.waitFor({ timeout: patience(20_000) });
  await card.getByRole('button', { name }).click();
}

export async function restful(page, name) {
  await until(`${name} to be at rest`, async () => ['ready', 'stopped'].includes(await stateOf(page, name).getAttribute('data-agent-state')), 20_000);
}

// An agent's commands are known as soon as it has been talked to.
export async function hasSpoken(supervisor, ...agents) {
  const program = await rpcClient(supervisor);
  for (const agent of agents) {
    const { id } = await program.call('ChannelService.Direct', agent);
    const { messages } = await program.call('ChannelService.Conversation', id);
    if (messages.length === 0) await program.call('ChannelService.Send', id, '/plan the day');
    await until(`${agent} to have spoken`, async () => !(await program.call('ChannelService.Conversation', id)).busy, 30_000);
  }
  program.close();
}
