// What libacp writes, judged by the schema that the protocol's own SDK ships.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { program } from '../support/monitor.mjs';

const require = createRequire(import.meta.url);
const { default: Ajv } = await import('ajv/dist/2020.js');

function schema() {
  // The package does not name it among what it exports.
  const folder = join(dirname(require.resolve('ajv/package.json')), '..', 'acp-sdk-2', 'schema', 'v1');
  return JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8'));
}

test('A1 everything that is written is valid by the schema, and every type of it is written', () => {
  const whole = schema();
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema(whole, 'acp');
  const judges = new Map();
  const judge = (type) => {
    if (!judges.has(type)) judges.set(type, type in whole.$defs ? ajv.compile({ $ref: `acp#/$defs/${type}` }) : null);
    return judges.get(type);
  };
  // These have left the schema, or share the answer of others.
  const outside = new Set(['SetSessionModelRequest', 'SetSessionModelResponse']);
  // What is passed on as it came, because nobody here knows it, and what a recorded client sent to see it refused.
  const passedOn = ['"type":"hologram"', '"sessionUpdate":"recipe_update"', '"type":"smell"', '"kind":"look_first"', '{"cwd":5}'];
  const lines = execFileSync(program('acp_written'), { maxBuffer: 256 << 20, encoding: 'utf8' }).trim().split('\n');
  const counts = new Map();
  const failures = [];
  for (const line of lines) {
    const { type, from, json } = JSON.parse(line);
    counts.set(type, (counts.get(type) ?? 0) + 1);
    const valid = judge(type);
    if (valid === null) {
      if (!outside.has(type)) failures.push(`${type} is not in the schema (${from})`);
    } else if (!valid(json) && !passedOn.some((word) => JSON.stringify(json).includes(word))) {
      const [error] = valid.errors;
      failures.push(`${type} of ${from}: ${error.instancePath} ${error.message}: ${JSON.stringify(json).slice(0, 300)}`);
    }
  }
  assert.deepEqual(failures.slice(0, 10), [], `${failures.length} of ${lines.length} are not valid`);
  // Whatever is the params or the result of a method of the protocol was written at least once.
  const stable = Object.entries(whole.$defs).filter(([, type]) => type['x-method']).map(([name]) => name);
  assert.ok(stable.length > 40, `${stable.length} types of methods`);
  assert.deepEqual(stable.filter((name) => !counts.has(name)), []);
  console.log(`${lines.length} messages of ${counts.size} types`);
});

test('A1 the judge is awake', () => {
  const whole = schema();
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(whole, 'acp');
  const prompt = ajv.compile({ $ref: 'acp#/$defs/PromptRequest' });
  assert.equal(prompt({ sessionId: 's', prompt: [{ type: 'text', text: 't' }] }), true);
  assert.equal(prompt({ sessionId: 's', prompt: [{ type: 'text' }] }), false);
  assert.equal(prompt({ prompt: [] }), false);
});
