import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/operate/guarantees.md'), 'utf8');

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (promise|---)/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

test('every promise names what shows it, and where it ends', () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((cells) => cells.length !== 3 || cells[0] === '' || cells[1] === '')).toEqual([]);
});

test.each(rows.map(([promise = '', shownBy = '']) => ({ promise, shownBy })))(
  'what shows it is there: $promise',
  ({ shownBy }) => {
    const missing = shownBy.split(' · ').filter((citation) => !isThere(citation));
    expect(missing).toEqual([]);
  },
);

function isThere(citation: string): boolean {
  const [, what = '', title = ''] = /^`([^`]+)` ?(.*)$/.exec(citation) ?? [];
  if (what.startsWith('npm run ')) return scripts.includes(what.slice('npm run '.length));
  const file = join(root, what);
  return existsSync(file) && readFileSync(file, 'utf8').includes(title);
}

const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
