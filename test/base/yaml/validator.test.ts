import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { validatorOf } from '../../../src/base/yaml/validator.ts';
import { runtimeSchema } from '../../../src/config/schema.ts';

test('a schema that was not compiled, or was changed since, names the next step', () => {
  const changed = { ...runtimeSchema, required: ['apiVersion'] };
  expect(() => validatorOf(changed)).toThrow(
    expect.objectContaining({
      code: 'INTERNAL',
      message: expect.stringMatching(/#validators\/[0-9a-f]{16}\.js.* cannot be loaded/),
      hint: expect.stringContaining('Run `npm run build`'),
    }),
  );
});

test('a schema has one validator, which is loaded once', () => {
  expect(validatorOf(runtimeSchema)).toBe(validatorOf(runtimeSchema));
});

const folder = mkdtempSync(join(tmpdir(), 'validator-'));
const main = join(import.meta.dirname, '../../../src/cli/main.ts');
const reporter = join(folder, 'reporter.cjs');
writeFileSync(
  reporter,
  `const { _cache: modules } = require('node:module');
  process.on('exit', () => console.log(Object.keys(modules).some((file) => file.endsWith('ajv/dist/core.js'))));`,
);

/** Whether checking a config with one tool loads the JSON Schema compiler. */
function loadsCompiler(tool: string): boolean {
  writeFileSync(
    join(folder, 'runtime.yaml'),
    `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {tools: {echo: ${tool}}}\n`,
  );
  const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const;
  const output = execFileSync(process.execPath, ['--require', reporter, main, 'validate'], options);
  return output.endsWith('true\n');
}

test.each([
  { tool: '{exec: {command: /bin/cat}}', isLoaded: false },
  { tool: '{input_schema: {type: object}, exec: {command: /bin/cat}}', isLoaded: false },
  { tool: '{input_schema: {pattern: "^a"}, exec: {command: /bin/cat}}', isLoaded: true },
])(
  'ajv is loaded only for users’ schemas that may not compile: $tool',
  ({ tool, isLoaded }) => {
    expect(loadsCompiler(tool)).toBe(isLoaded);
  },
  60_000,
);
