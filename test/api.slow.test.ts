import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entryPoints, renderApiReports } from './tools/api-report.ts';

const folder = join(import.meta.dirname, '../etc');

test('no declaration that users can reach has changed unannounced: npm run api writes etc/', () => {
  const kept = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  expect(renderApiReports()).toEqual(kept);
});

test('every export with types has a report', () => {
  const { exports } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8'));
  const typed = Object.keys(exports).filter((entry) => typeof exports[entry] === 'object');
  expect(Object.values(entryPoints)).toEqual(typed);
});
