import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { blocksOf } from './doc-blocks.ts';

const root = join(import.meta.dirname, '..');
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
const kinds = [
  ['RuntimeConfig', 'runtime'],
  ['EvalSuite', 'suite'],
  ['Pipeline', 'pipeline'],
].map(([kind = '', name]) => {
  const schema = JSON.parse(readFileSync(join(root, `schema/${name}.schema.json`), 'utf8'));
  return [{ apiVersion: 'signalbox/v1', kind, metadata: { name: 'page' } }, ajv.compile(schema)] as const;
});
const lists = ['tools', 'hooks', 'evals', 'providers', 'sandboxes', 'steps', 'gates', 'cases'];

/** Files that may contain a fragment: as a whole file, its `spec`, a list there, or an entry of a list. */
function filesWith(fragment: unknown): Record<string, unknown>[] {
  const parts = lists.flatMap((key) => [{ [key]: fragment }, { [key]: { entry: fragment } }]);
  return [...[fragment, ...parts].map((spec) => ({ spec })), Object(fragment)];
}

/** Whether a file can contain the fragment. Only its surroundings may lack keys. */
function isUsable(fragment: unknown): boolean {
  return kinds.some(([head, check]) =>
    filesWith(fragment).some(
      (file) =>
        check({ ...head, ...file }) ||
        (check.errors ?? []).every(
          ({ keyword, instancePath }) =>
            ['required', 'anyOf', 'oneOf'].includes(keyword) && ['', '/spec'].includes(instancePath),
        ),
    ),
  );
}

const fragments = globSync('docs/{start,guides,operate,reference}/**/*.md', { cwd: root }).flatMap((page) =>
  blocksOf(readFileSync(join(root, page), 'utf8'))
    .filter(({ info }) => info === 'yaml')
    .map(({ text, line }) => ({ place: `${page}:${line}`, text })),
);

test('every fragment of YAML in the documentation fits a config, a suite or a pipeline', () => {
  const wrong = fragments.filter(({ text }) => !isUsable(parse(text))).map(({ place }) => place);
  expect({ wrong, areThere: fragments.length > 40 }).toEqual({ wrong: [], areThere: true });
});

test.each([
  'tools:\n  a: {exec: {command: ./a.sh}, timeout: 5}',
  'spec:\n  hook:\n    a: {command: ./a.sh, hook: tool}',
  'gates:\n  - {evl: exact, min_pass_rate: 1}',
])('a fragment with an unknown key does not: %j', (text) => {
  expect(isUsable(parse(text))).toBe(false);
});
