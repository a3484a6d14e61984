import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guards } from '../../src/builtins/guards/guards.ts';
import { validateFile } from '../../src/runtime/validate-file.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

test('`validate` reads the settings of every guard of the package', () => {
  const programs = Object.keys(manifest.bin).filter((name) => name !== 'signalbox');
  expect(Object.keys(guards).toSorted()).toEqual(programs.toSorted());
});

test.each([
  ['signalbox-pii', '[--action, mask-all]', '[1]: signalbox-pii: there is no action "mask-all"'],
  ['signalbox-pii', '[--entities=EMAIL]', '[0]: signalbox-pii: there is no entity "EMAIL"'],
  [
    'signalbox-injection',
    '[--threshold, "2"]',
    '[1]: signalbox-injection: --threshold 2 is not a valid threshold',
  ],
  ['signalbox-injection', '[--judge, jugde]', '[1]: signalbox-injection: no provider "jugde" is declared'],
  ['signalbox-links', '[--acton, strip]', "[0]: signalbox-links: Unknown option '--acton'"],
  ['signalbox-secrets', '[--key-file, none/key]', '[1]: signalbox-secrets: the key file'],
  ['signalbox-topics', '[]', 'command: signalbox-topics: no topic is given'],
  ['signalbox-topics', '[--deny-topic, x]', 'command: signalbox-topics: no provider "judge" is declared'],
  ['signalbox-prompt', '[--prompt, "  "]', 'command: signalbox-prompt: there is no prompt'],
  ['signalbox-pii', '[--action, "mask,EMAIL_ADDRESS=block", --key-file, key]', undefined],
  ['signalbox-injection', '[--judge, main]', undefined],
])('%s %s', async (command, args, message) => {
  const folder = mkdtempSync(join(tmpdir(), 'guards-'));
  mkdirSync(join(folder, 'sub'));
  const file = join(folder, 'runtime.yaml');
  const hook = `{hook: provider, command: ${command}, args: ${args}}`;
  writeFileSync(
    file,
    `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks: {h: ${hook}}
  providers: [{id: main, type: openai, model: m}]
`,
  );
  const problems = await validateFile(file, file, { env: { PATH: '' } });
  const expected = message === undefined ? [] : [expect.stringContaining(message)];
  expect(problems.map((problem) => problem.message)).toEqual(expected);
  expect(problems.every(({ severity, line }) => severity === 'error' && line === 4)).toBe(true);
  // The failed start creates no files, such as a key.
  expect(readdirSync(folder).toSorted()).toEqual(['runtime.yaml', 'sub']);
});
