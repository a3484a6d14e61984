import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checks } from '../../../src/builtins/checks/registry.ts';
import { anchorOf, renderCheckReference } from '../../tools/check-reference.ts';

const reference = readFileSync(join(import.meta.dirname, '../../../docs/reference/checks.md'), 'utf8');

test('docs/reference/checks.md equals the descriptions of the checks; `npm run schemas` writes it', () => {
  expect(reference).toBe(renderCheckReference());
});

test('every check has a section, which the list of types leads to', () => {
  const sections = [...reference.matchAll(/^### (.*)$/gm)].map(([, type]) => type);
  const links = [...reference.matchAll(/\]\(#(\w+)\)/g)].map(([, type]) => type);
  const types = checks.map(({ type }) => type);
  expect({ sections, links }).toEqual({ sections: types, links: types.map(anchorOf) });
});
