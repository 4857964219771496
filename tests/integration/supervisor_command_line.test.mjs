// The supervisor's command line, and what is made from its tables.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { program } from '../support/monitor.mjs';
import { patience, within } from '../support/patience.mjs';
import { endLeftSupervisors, spawnSupervisor } from '../support/supervisor.mjs';

const home = mkdtempSync(join(tmpdir(), 'watchbill-line-'));
after(() => rmSync(home, { recursive: true, force: true }));
after(endLeftSupervisors);

const run = (...args) => {
  const { status, stdout, stderr } = spawnSync(program('watchbill-supervisor'), args, {
    encoding: 'utf8',
    timeout: patience(30_000),
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' },
  });
  return { code: status, out: stdout, err: stderr };
};

test('S25 the page’s types are those of the socket’s table', () => {
  const kept = readFileSync(new URL('../../apps/web/src/supervisor/rpc_types.ts', import.meta.url), 'utf8');
  assert.equal(run('rpc', 'schema').out, kept, 'watchbill-supervisor rpc schema > apps/web/src/supervisor/rpc_types.ts');
});

test('S25 docs/protocols/rpc.md names every method and every event of the table', () => {
  const text = readFileSync(new URL('../../docs/protocols/rpc.md', import.meta.url), 'utf8');
  const names = [...run('rpc', 'schema').out.matchAll(/^ {2}'([^']+)'/gm)].map(([, name]) => name);
  assert.ok(names.length > 20);
  for (const name of names) {
    const [service, method] = name.split('.');
    assert.ok(text.includes(`\`${name}\``) || (method && text.includes(`\`.${method}\``) && text.includes(`\`${service}.`)), name);
  }
});

test('help names every command, and an unknown one the nearest', () => {
  const { out, code } = run('--help');
  assert.equal(code, 0);
  for (const command of ['serve', 'ask', 'agents', 'link', 'config check', 'rpc schema']) assert.match(out, new RegExp(`^  ${command}`, 'm'));
  assert.match(run('ask', '--help').out, /--approve/);
  const unknown = run('aks');
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /ask/);
});

test('S11 a configuration is checked without being used', () => {
  const good = join(home, 'good.yaml');
  writeFileSync(good, 'agents:\n  - name: a\n    command: cat\n');
  assert.deepEqual(run('config', 'check', good), { code: 0, out: '', err: '' });
  const bad = join(home, 'bad.yaml');
  writeFileSync(bad, 'theme: purple\nagents:\n  - name: a\n');
  const { code, err } = run('config', 'check', bad);
  assert.equal(code, 4);
  assert.match(err, /bad\.yaml:1:8: .*purple/);
  assert.match(err, /bad\.yaml:3:\d+: .*command/);
  const refused = run('serve', '--config', bad, '--port', '0');
  assert.equal(refused.code, 4);
  assert.match(refused.err, /the configuration cannot be used/);
  assert.equal(run('config', 'check', join(home, 'missing.yaml')).code, 4);
});

test('agents are listed with their commands', () => {
  const file = join(home, 'agents.yaml');
  writeFileSync(file, 'agents:\n  - name: a\n    command: cat\n    args: [-u, "two words"]\n  - {name: b, command: dog}\n');
  assert.equal(run('agents', '--config', file).out, "a\tcat -u 'two words'\nb\tdog\n");
  assert.match(run('agents').err, /there is no configuration at .*sidekicks\/config\.yaml: `watchbill-supervisor serve` writes one/);
});

test('S25 a new link to a supervisor that runs, and a sentence where none does', async () => {
  const supervisor = await spawnSupervisor({ config: { agents: [] } });
  const env = {
    PATH: process.env.PATH,
    HOME: supervisor.folder,
    XDG_CONFIG_HOME: join(supervisor.folder, 'config'),
    XDG_RUNTIME_DIR: join(supervisor.folder, 'runtime'),
  };
  const link = () => spawnSync(program('watchbill-supervisor'), ['link', '--config', supervisor.config], { encoding: 'utf8', timeout: patience(30_000), env });
  const { stdout } = link();
  assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/open\/[0-9a-f]{64}\n$/);
  assert.equal((await fetch(stdout.trim(), { redirect: 'manual' })).status, 303);
  await supervisor.end();
  const none = link();
  assert.equal(none.status, 1);
  assert.match(none.stderr, /no supervisor runs for .*: watchbill-supervisor serve starts one/);
  rmSync(supervisor.folder, { recursive: true, force: true });
});

test('S11 a first start writes a configuration that can be used, for its user alone', async () => {
  const folder = join(home, 'first');
  mkdirSync(folder);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder };
  const child = spawn(program('watchbill-supervisor'), ['serve', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGTERM');
  assert.deepEqual(await within(20_000, 'the supervisor to end', ended), { code: 0, signal: null });
  const file = join(folder, '.config/sidekicks/config.yaml');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(run('config', 'check', file).code, 0);
  assert.match(run('agents', '--config', file).out, /watchbill-example-agent --acp/);
});
