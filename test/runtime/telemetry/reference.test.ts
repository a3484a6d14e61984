import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  contentNames,
  evaluationRows,
  hookRule,
  operationRules,
} from '../../../src/runtime/telemetry/attributes.ts';
import { guardrailRows } from '../../../src/runtime/telemetry/guardrails.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/telemetry.md'), 'utf8');

/** The first two cells of each row of the table whose header begins so. */
function cellsOf(header: string): readonly (readonly [string, string])[] {
  const [, after = ''] = page.split(`\n| ${header}`);
  const [rows = ''] = after.split('\n\n');
  return [...rows.matchAll(/^\| `(.*?)` \| (.*?) \|/gm)].map(([, name = '', next = '']) => [name, next]);
}

const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

test('the reference lists each attribute with the spans that have it, and no other', () => {
  const rules = [...Object.entries(operationRules), ['hook', hookRule] as const];
  const places = [
    ...rules.map(([place, { start, end }]) => [place, [...namesOf(start), ...namesOf(end)]] as const),
    ['evaluation', namesOf(evaluationRows)] as const,
    ['content', Object.values(contentNames)] as const,
  ];
  const names = new Set(places.flatMap(([, names]) => names));
  const expected = [...names].map((name) => [
    name,
    places
      .filter(([, names]) => names.includes(name))
      .map(([place]) => place)
      .join(', '),
  ]);
  expect(new Map(cellsOf('attribute | on |'))).toEqual(new Map(expected as [string, string][]));
});

test('the reference lists the names for guardrails', () => {
  expect(cellsOf('attribute | value |').map(([name]) => name)).toEqual(namesOf(guardrailRows));
});

test('the reference lists each kind of operation', () => {
  expect(cellsOf('span | name |').map(([name]) => name)).toEqual([...Object.keys(operationRules), 'hook']);
});
