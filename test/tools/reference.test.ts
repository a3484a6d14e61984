import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderReference } from './reference.ts';

test('docs/reference/config.md equals the schemas; `npm run schemas` writes it', () => {
  const file = join(import.meta.dirname, '../../docs/reference/config.md');
  expect(readFileSync(file, 'utf8')).toBe(renderReference());
});
