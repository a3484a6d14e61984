import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from '../cli/command-line.ts';

const base = fileURLToPath(new URL('base/', import.meta.url));
const files = ['runtime.yaml', 'orders.suite.yaml', 'refund.pipeline.yaml'] as const;

/** Names of the project's own choice, keys whose children are free, and `kind`, which selects the type of file. */
const ownNames = new Set([
  'kind',
  'lookup',
  'refund',
  'polite',
  'limit',
  'order',
  'properties',
  'reply',
  'responses',
]);

interface Slip {
  readonly file: string;
  readonly line: number;
  readonly key: string;
  readonly text: string;
}

/** Swaps two letters of each key. */
const slips = files.flatMap((file): Slip[] => {
  const text = readFileSync(join(base, file), 'utf8');
  return [...text.matchAll(/(?<=^\s*(?:- )?|[{,] ?)([a-z_]{4,}):/gm)].flatMap(({ 1: key = '', index }) => {
    const line = text.slice(0, index).split('\n').length;
    // A JSON Schema may have any key.
    const isOfSchema = /object|string|required/.test(text.split('\n')[line - 1] ?? '');
    if (ownNames.has(key) || (isOfSchema && key !== 'input')) return [];
    const wrong = key.replace(/(\w)(?!\1)(\w)(\w*)$/, '$2$1$3');
    return [{ file, line, key, text: text.slice(0, index) + wrong + text.slice(index + key.length) }];
  });
});

test.each(slips)('$file:$line $key: one slip is one problem, with the right key', async (slip) => {
  const folder = mkdtempSync(join(tmpdir(), 'slip-'));
  cpSync(base, folder, { recursive: true });
  writeFileSync(join(folder, slip.file), slip.text);
  const file = slip.file === 'runtime.yaml' ? ['--config', slip.file] : [slip.file];
  const { stdout, stderr } = await run(['validate', ...file], { cwd: folder });
  rmSync(folder, { recursive: true });
  const [, hint = ''] = stdout.split('\n');
  expect(`${stdout}${stderr}`).toMatch(new RegExp(`^${RegExp.escape(`${slip.file}:${slip.line}:`)}`));
  expect(hint).toContain(`did you mean \`${slip.key}\`?`);
  expect(stderr).toContain('1 file: 1 error, 0 warnings');
});
