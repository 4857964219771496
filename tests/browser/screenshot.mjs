// A picture of a lively board for the documents:  WATCHBILL_BIN_DIR=… node screenshot.mjs OUT.png [dark]
import { agentClient, agentId, keyIn, launch, live, openPage, spawnMonitor } from './harness.mjs';

const [out, theme = 'light', locale = 'en-GB', width = '1440', height = '900', select = 'yes'] = process.argv.slice(2);
if (!out) throw new Error('usage: screenshot.mjs OUT.png [light|dark]');

const fleet = [
  ['Invoice Reader', 'atlas', 48_210],
  ['Contract Review', 'atlas', 131_775],
  ['Support Triage', 'borealis', 20_904],
  ['Nightly Digest', 'borealis', null],
  ['SQL Analyst', 'castor', 88_032],
  ['Release Notes', 'castor', 6_120],
  ['Mail Router', 'castor', 0],
  ['Price Watch', 'delos', 15_448],
  ['Log Sifter', 'delos', 3_975],
];
const away = [
  ['Backup Auditor', 'delos', '/srv/agents/backup-auditor', 'Runs on Sundays.'],
  ['Meeting Minutes', 'borealis', '/srv/agents/minutes', ''],
  ['Translation Desk', 'atlas', '', ''],
];

const monitor = await spawnMonitor({ args: ['--machine', 'atlas'] });
const browser = await launch();
try {
  for (const [index, [name, host, folder, note]] of away.entries()) {
    await keyIn(monitor.url, { id: agentId(100 + index), name, host, ...(folder && { folder }), ...(note && { note }) });
  }
  const { page } = await openPage(browser, monitor.url, { colorScheme: theme, locale, viewport: { width: Number(width), height: Number(height) } });
  await live(page);
  const agents = [];
  for (const [index, [name, host, tokens]] of fleet.entries()) {
    const folder = `/srv/agents/${name.toLowerCase().replaceAll(' ', '-')}`;
    const agent = await agentClient(monitor.url, { id: agentId(index + 1), name, host, cwd: folder, pid: 2300 + index * 17, port: 50_610 + index });
    agents.push(agent);
    agent.enter('before', { startedBy: 'schedule' });
    if (tokens !== null) agent.log({ id: 1, runId: 'before', tokens: { total: tokens } });
    if (name === 'Release Notes') agent.exit('before', { outcome: 'failed', ok: false, durationMs: 8_400, error: 'connect ECONNREFUSED 127.0.0.1:5432' });
    else agent.exit('before', { durationMs: 3_200 + index * 750 });
  }
  const [, contract, , digest, analyst, , , prices] = agents;
  contract.enter('c1', { startedBy: 'webhook' });
  digest.enter('d1', { startedBy: 'schedule' });
  prices.enter('p1', { startedBy: 'event' });
  prices.exit('p1', { outcome: 'failed', ok: false, durationMs: 2_150, error: 'The page could not be read.' });
  await prices.close();
  if (select === 'yes') {
    await page.getByRole('gridcell').filter({ hasText: 'SQL Analyst' }).first().click();
    await page.mouse.move(5, 5);
  }
  // One that has been at it for a while.
  analyst.enter('a1', { startedBy: 'webhook', at: new Date(Date.now() - 18_000).toISOString() });
  analyst.log({ id: 2, runId: 'a1', name: 'gpt', durationMs: 1_240, tokens: { total: 1_812 } });
  analyst.enter('a2', { startedBy: 'webhook', parentRunId: 'a1', agent: 'Schema Reader' });
  analyst.log({ id: 3, kind: 'tool', name: 'describe-tables', runId: 'a2', durationMs: 55, withheld: ['args', 'result'] });
  analyst.log({ id: 4, runId: 'a2', name: 'gpt', durationMs: 640, tokens: { total: 420 } });
  analyst.exit('a2', { durationMs: 940 });
  analyst.log({ id: 5, kind: 'tool', name: 'execute-query', runId: 'a1', durationMs: 310, withheld: ['args', 'result'] });
  if (select === 'yes') await page.locator('.line', { hasText: 'execute-query' }).waitFor();
  await page.getByRole('row').filter({ hasText: 'SQL Analyst' }).filter({ hasText: /1 (running|en cours)/ }).waitFor({ state: 'attached' });
  await page.screenshot({ path: out });
} finally {
  await browser.close();
  await monitor.stop();
}
