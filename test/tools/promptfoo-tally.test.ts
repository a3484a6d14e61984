import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeStandIns } from './promptfoo-stand-ins.ts';
import { summaryOf, tally } from './promptfoo-tally.ts';

test('every config of a folder is counted with its reasons, and what is written is validated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-'));
  const files = {
    'a/promptfooconfig.yaml': 'prompts: [hi]\nproviders: [echo]\ntests: [{vars: {a: 1}}]\n',
    'b/promptfooconfig.yaml':
      'prompts: [hi]\nproviders: [echo, x:y]\ntests: [{assert: [{type: moderation}]}]\n',
    'c/promptfooconfig.json': '{"prompts": ["hi"], "providers": ["x:y"], "tests": []}',
    'd/promptfooconfig.yaml': 'prompts: [hi\n',
    'e/tests.yaml': '- vars: {a: 1}\n',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const outcomes = await tally(folder);
  expect(outcomes.map(({ file, status, invalid }) => [file, status, invalid])).toEqual([
    ['a/promptfooconfig.yaml', 'whole', []],
    ['b/promptfooconfig.yaml', 'partly', []],
    ['c/promptfooconfig.json', 'none', []],
    ['d/promptfooconfig.yaml', 'refused', []],
  ]);
  expect(summaryOf(outcomes).split('\n')).toEqual([
    'of 4: whole 1 (0 with warnings), partly 1, none 1, refused 1, crashed 0',
    '    2  the provider `x` has no equivalent and is left out',
    '    1  CONFIG_INVALID',
    '    1  the assertion `moderation` has no equivalent and is left out',
  ]);
});

test('missing files that a config names are created, only inside its folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stand-ins-'));
  const config = join(folder, 'promptfooconfig.yaml');
  const text = `prompts: ['file://prompts/*.txt', here.json]
providers: ['python:agent.py', 'file://../outside.js']
tests: [file://tests.csv, {vars: {doc: file://docs/a.md}}]
`;
  writeFileSync(config, text);
  writeFileSync(join(folder, 'here.json'), '[{"role": "user", "content": "kept"}]');
  expect(makeStandIns(config)).toBe(4);
  expect(makeStandIns(config)).toBe(0);
  expect(readdirSync(folder).toSorted()).toEqual([
    'agent.py',
    'docs',
    'here.json',
    'promptfooconfig.yaml',
    'prompts',
    'tests.csv',
  ]);
  expect(readFileSync(join(folder, 'here.json'), 'utf8')).toContain('kept');
  expect(readFileSync(config, 'utf8')).toBe(text);
});
