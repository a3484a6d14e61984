import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';
import { drawPictures, importsOfFolders } from '../build/pictures/draw.ts';
import { folders } from './architecture.ts';

const root = join(import.meta.dirname, '..');
const pictures = join(root, 'docs/pictures');
const imports = importsOfFolders();
const drawn = await drawPictures(imports);

test.each([...drawn])('docs/pictures/%s is what `npm run pictures` writes', (file, svg) => {
  expect(readFileSync(join(pictures, file), 'utf8')).toBe(svg);
});

test.each([...drawn])('%s has a title, and no text below 14 pixels', (_, svg) => {
  expect(svg).toMatch(/^<svg [^>]*>\n<title>[^<]+<\/title>/);
  const sizes = [...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(14);
  expect(Number(/ width="(\d+)"/.exec(svg)?.[1])).toBeLessThanOrEqual(600);
});

test('the picture of src shows every folder, and only imports that point up', () => {
  const source = readFileSync(join(root, 'build/pictures/folders.dot'), 'utf8');
  const shown = [...source.matchAll(/^ {2}"?([\w.]+)"? \[label/gm)].map(([, folder = '']) => folder);
  expect(shown.toSorted()).toEqual(folders.toSorted());
  const arrows = [...imports.matchAll(/"(.*)" -> "(.*)"/g)];
  expect(arrows.length).toBeGreaterThan(12);
  expect(arrows.filter(([, from = '', to = '']) => folders.indexOf(from) <= folders.indexOf(to))).toEqual([]);
});

test('a page shows each picture, with a text for those who do not see it', () => {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];
  const shown = pages.flatMap((page) =>
    [
      ...readFileSync(join(root, page), 'utf8').matchAll(/!\[([^\]]{40,})\]\([^)]*pictures\/([\w.-]+)\)/g),
    ].map(([, , file]) => file),
  );
  expect(readdirSync(pictures).filter((file) => !shown.includes(file))).toEqual([]);
});
