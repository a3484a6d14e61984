import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { writeInside, writeWithoutLinks } from '../../../src/base/files/write-inside.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'write-inside-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function treeOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => lstatSync(join(folder, name)).isFile())
    .map((name) => `${name}: ${readFileSync(join(folder, name), 'utf8')}`)
    .toSorted();
}

function codeOf(act: () => void): unknown {
  try {
    act();
    return 'written';
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown ? thrown.code : thrown;
  }
}

const segment = fc.constantFrom('a', 'b', 'signalbox', 'deep');
const placements = fc.record({
  segments: fc.array(segment, { minLength: 1, maxLength: 4 }),
  /** The part of the path that is a link: a folder, or the file itself. */
  link: fc.nat(),
  leadsTo: fc.constantFrom('victim', 'nowhere', 'victim/.bash_profile', 'file'),
  isRelative: fc.boolean(),
  replace: fc.boolean(),
});

test('nothing is written outside the folder, whichever part of its path is a link [DS-IMPORT-05]', () => {
  let count = 0;
  fc.assert(
    fc.property(placements, ({ segments, link, leadsTo, isRelative, replace }) => {
      count += 1;
      const place = join(root, String(count));
      const [victim, repo] = [join(place, 'victim'), join(place, 'repo')];
      mkdirSync(victim, { recursive: true });
      mkdirSync(repo);
      writeFileSync(join(place, 'file'), 'kept');
      const parts = [...segments, 'cases.jsonl'];
      const at = link % parts.length;
      const linkPath = join(repo, ...parts.slice(0, at + 1));
      mkdirSync(dirname(linkPath), { recursive: true });
      const ups = isRelative ? '../'.repeat(at + 1) : `${place}/`;
      symlinkSync(`${ups}${leadsTo}`, linkPath);
      const folder = join(repo, ...segments);
      const files = [
        { name: 'runtime.yaml', text: 'r' },
        { name: 'cases.jsonl', text: 'c' },
      ];
      const outcome = codeOf(() => writeInside(folder, files, replace));
      expect(readFileSync(join(place, 'file'), 'utf8')).toBe('kept');
      expect(existsSync(join(place, 'nowhere'))).toBe(false);
      expect(treeOf(victim)).toEqual([]);
      // A link in place of the file is replaced only with `replace`; otherwise nothing is written.
      const isReplaced = replace && at === parts.length - 1;
      expect(outcome).toBe(isReplaced ? 'written' : 'USAGE');
      expect(treeOf(repo)).toEqual(
        isReplaced ? [`${segments.join('/')}/cases.jsonl: c`, `${segments.join('/')}/runtime.yaml: r`] : [],
      );
    }),
    { numRuns: 200 },
  );
});

test('existing files stay, and all or none of the names are used [DS-IMPORT-05]', () => {
  const folder = join(root, 'kept');
  mkdirSync(folder);
  writeFileSync(join(folder, 'b'), 'mine');
  const files = [
    { name: 'a', text: '1' },
    { name: 'b', text: '2' },
  ];
  expect(codeOf(() => writeInside(folder, files, false))).toBe('USAGE');
  expect(treeOf(folder)).toEqual(['b: mine']);
  writeInside(folder, files, true);
  expect(treeOf(folder)).toEqual(['a: 1', 'b: 2']);
  mkdirSync(join(folder, 'c'));
  expect(codeOf(() => writeInside(folder, [{ name: 'c', text: '' }], true))).toBe('USAGE');
});

test.each(['..', '.', '', '../x', 'a/b', '/etc/x'])('%j is no file name', (name) => {
  expect(codeOf(() => writeInside(join(root, 'names'), [{ name, text: '' }], true))).toBe('INTERNAL');
  expect(existsSync(join(root, 'names'))).toBe(false);
});

test('one file keeps its mode, and is not written through a link [DS-IMPORT-05]', () => {
  const file = join(root, 'runtime.yaml');
  writeWithoutLinks(file, 'new', 'x');
  chmodSync(file, 0o640);
  writeWithoutLinks(file, 'newer', 'x');
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['newer', 0o640]);
  symlinkSync(file, join(root, 'link.yaml'));
  expect(() => writeWithoutLinks(join(root, 'link.yaml'), 'no', 'x')).toThrow(
    expect.objectContaining({ code: 'USAGE', hint: `Name the target itself: ${file}, or remove the link.` }),
  );
  expect(readFileSync(file, 'utf8')).toBe('newer');
});
