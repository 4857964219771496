// What the programs say when they cannot do what they were asked: one sentence, and an exit code that scripts can rely on.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { endLeftMonitors, runProgram, spawnMonitor } from '../support/monitor.mjs';

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchbill-cli-'));
});
after(async () => {
  await endLeftMonitors();
  rmSync(folder, { recursive: true, force: true });
});

const PROGRAMS = ['watchbill-monitor', 'watchbill-runner', 'watchbill-example-agent'];

async function refused(name, args, code, sentence, options) {
  const result = await runProgram(name, args, options);
  assert.match(result.stderr, sentence);
  assert.equal(result.code, code, result.stderr);
  const lines = result.stderr.trim().split('\n').filter((line) => line.startsWith(`${name}: `));
  assert.equal(lines.length, 1, `one sentence, not: ${result.stderr}`);
  assert.equal(result.stdout, '');
}

for (const name of PROGRAMS) {
  test(`${name} --help and --version`, async () => {
    const help = await runProgram(name, ['--help']);
    assert.equal(help.code, 0);
    assert.equal(help.stderr, '');
    for (const word of ['Usage:', '--version', 'Exit codes:']) assert.ok(help.stdout.includes(word));
    const version = await runProgram(name, ['--version']);
    assert.match(version.stdout, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\n$`));
  });

  test(`${name}: a wrong flag is exit code 2`, async () => {
    await refused(name, ['--prot', '1'], 2, /there is no option --prot; see .* --help/);
    await refused(name, ['stray'], 2, /every argument is an option/);
    await refused(name, ['--log-format', 'xml'], 2, /json or text/);
  });
}

test('watchbill-monitor: a port that is no port, or in use', async () => {
  const data = join(folder, 'd1');
  for (const port of ['x', '-1', '65536']) await refused('watchbill-monitor', ['--port', port, '--data', data], 2, /--port is a number from 0 to 65535/);
  const monitor = await spawnMonitor();
  await refused('watchbill-monitor', ['--port', String(monitor.port), '--data', data], 3, /another program has it: choose another port, or --port 0/);
  await refused('watchbill-monitor', ['--host', 'not-an-address', '--data', data], 2, /no address to listen on/);
  await refused('watchbill-monitor', ['--host', '192.0.2.1', '--port', '0', '--data', data], 5, /without a token/);
  await refused('watchbill-monitor', ['--host', '192.0.2.1', '--port', '0', '--data', data], 3, /cannot listen on 192\.0\.2\.1/, { env: { MONITOR_TOKEN: 't' } });
  await refused('watchbill-monitor', ['--port', '0', '--data', join(monitor.folder, 'data')], 4, /another monitor \(process \d+\) has the folder .*--data names another/);
  await monitor.stop();
});

test('watchbill-monitor: data that cannot be used', async () => {
  writeFileSync(join(folder, 'file'), '');
  await refused('watchbill-monitor', ['--port', '0', '--data', join(folder, 'file')], 4, /cannot use the folder .*--data names another/);
  await refused('watchbill-monitor', ['--port', '0', '--data', '/proc/watchbill'], 4, /cannot make the folder \/proc\/watchbill/);
  if (process.getuid() !== 0) {
    mkdirSync(join(folder, 'locked'), { mode: 0o500 });
    await refused('watchbill-monitor', ['--port', '0', '--data', join(folder, 'locked')], 4, /cannot write in the folder/);
  }
  const data = join(folder, 'd2');
  mkdirSync(data);
  writeFileSync(join(data, 'agents.json'), '{\n  "agents": [,]\n}');
  await refused('watchbill-monitor', ['--port', '0', '--data', data], 4, /agents\.json cannot be used: line 2, column 14/);
  await refused('watchbill-monitor', ['--port', '0', '--data', join(folder, 'd3'), '--token-file', join(folder, 'none')], 4, /cannot read .*none/);
  writeFileSync(join(folder, 'empty'), '\n');
  await refused('watchbill-monitor', ['--port', '0', '--data', join(folder, 'd3'), '--token-file', join(folder, 'empty')], 4, /put the token on its first line/);
});

test('watchbill-monitor warns of a token that others can see', async () => {
  const token = join(folder, 'open-token');
  writeFileSync(token, 'secret\n');
  chmodSync(token, 0o644);
  const open = await spawnMonitor({ args: ['--token-file', token] });
  await open.said(/others may read this secret/);
  await open.stop();
  const shown = await spawnMonitor({ args: ['--token', 'secret-on-the-line', '--log-format', 'json'] });
  await shown.said(/--token-file keeps it/);
  const [line] = shown.errors().trim().split('\n');
  assert.equal(JSON.parse(line).level, 'warn');
  assert.ok(!shown.errors().includes('secret-on-the-line'));
  await shown.stop();
});

test('watchbill-runner: what it cannot do without', async () => {
  const data = ['--data', join(folder, 'r1')];
  await refused('watchbill-runner', ['--allow', folder, ...data], 2, /it needs the monitor's address/);
  await refused('watchbill-runner', ['--monitor', 'http://127.0.0.1:1', ...data], 2, /it may start nothing: --allow DIR/);
  await refused('watchbill-runner', ['--monitor', 'http://127.0.0.1:1', '--allow', join(folder, 'none'), ...data], 2, /--allow .*none.*cannot be used/);
  for (const [url, why] of [['127.0.0.1:5180', /looks like http:/], ['https://127.0.0.1', /does not speak TLS/], ['http://', /looks like http:/],
    ['http://user:pass@host', /use the token/], ['ftp://host', /begins with http/]]) {
    await refused('watchbill-runner', ['--monitor', url, '--allow', folder, ...data], 2, why);
  }
  symlinkSync('/nonexistent', join(folder, 'dangling'));
  await refused('watchbill-runner', ['--monitor', 'http://127.0.0.1:1', '--allow', folder, '--data', join(folder, 'dangling')], 4, /--data names another/);
});

test('watchbill-runner: a wrong token ends it with 5', async () => {
  const token = join(folder, 'token');
  writeFileSync(token, 'right\n', { mode: 0o600 });
  const monitor = await spawnMonitor({ args: ['--token-file', token] });
  const result = await runProgram('watchbill-runner', ['--monitor', monitor.url, '--allow', folder, '--data', join(folder, 'r2')], { env: { MONITOR_TOKEN: 'wrong' } });
  assert.equal(result.code, 5);
  assert.match(result.stderr, /the monitor refused the token/);
  assert.ok(!result.stderr.includes('wrong'));
  await monitor.stop();
});

test('watchbill-example-agent: what it cannot do without', async () => {
  await refused('watchbill-example-agent', ['--folder', folder], 2, /it needs the monitor's address/);
  await refused('watchbill-example-agent', ['--monitor', 'http://127.0.0.1:1', '--folder', join(folder, 'none')], 4, /is no folder/);
  const monitor = await spawnMonitor();
  await refused('watchbill-example-agent', ['--monitor', monitor.url, '--folder', folder, '--port', String(monitor.port)], 3, /another program has it/);
  await monitor.stop();
});
