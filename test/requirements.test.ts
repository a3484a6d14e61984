import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { badCitations, badIds, badSources, citationsIn, uncited, vagueTitles } from './requirements/check.ts';
import { section } from './requirements/requirement.ts';
import { requirements } from './requirements.ts';
import { parseModule, readModules } from './source.ts';

const tests = readModules(import.meta.dirname).filter(
  ({ file }) => file.endsWith('.test.ts') && file !== 'requirements.test.ts',
);

test('every id is well formed and unique', () => {
  expect(badIds(requirements)).toEqual([]);
});

const docs = join(import.meta.dirname, '../docs');
const pages = Object.fromEntries(
  readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name, readFileSync(join(docs, name), 'utf8')]),
);

test('every source is a page, and a section of a protocol exists in its page', () => {
  expect(badSources(requirements, pages)).toEqual([]);
});

test('every citation names a row and one of its transports', () => {
  expect(badCitations(requirements, citationsIn(tests))).toEqual([]);
});

test('every title names the transport it ran on', () => {
  expect(vagueTitles(tests)).toEqual([]);
});

test('no test is skipped, left to do, or run alone', () => {
  const idle = tests.filter(({ text }) => /\b(test|it|describe)\.(skip|todo|only|fails)\b/.test(text));
  expect(idle.map(({ file }) => file)).toEqual([]);
});

test('every requirement is shown by a test, on every transport it names', () => {
  const open = uncited(requirements, citationsIn(tests));
  expect(open.length, `${open.length} requirements that no test cites:\n${open.join('\n')}\n`).toBe(0);
});

const example = section('a document', [
  ['PK-1-01', 'both', 'First.'],
  ['PK-1-02', 'server', 'Second.'],
  ['DS-CLI-01', 'none', 'Third.'],
]);

function cites(text: string) {
  return citationsIn([parseModule('x.test.ts', text)]);
}

test('citations are read from literals, never from comments', () => {
  const text = [
    '// PK-1-01',
    "test('a [PK-1-01@oneshot DS-CLI-01]');",
    "each([{ cites: 'PK-1-02@both' }, `PK-1-01@$" + '{on}`]);',
  ].join('\n');
  expect(cites(text).map(({ cite }) => cite)).toEqual([
    'PK-1-01@oneshot',
    'DS-CLI-01',
    'PK-1-02@both',
    'PK-1-01@',
  ]);
});

test('a malformed id and a repeated one are found', () => {
  const rows = section(
    'a document',
    [...['PK-1-1', 'PK-1-01', 'DS-CLI-01', 'PK-1-01', 'ds-1-01']].map(rowOf),
  );
  expect(badIds(rows)).toEqual(['PK-1-1', 'PK-1-01', 'ds-1-01']);
});

test('a missing source page, or a missing section of one, is found', () => {
  const texts = { 'a.md': '', 'reference/protocols/b.md': '# b\n\n## 1. One\n\n### 1.2 Two\n\n## Three\n' };
  const sources = ['a.md', 'b.md §1', 'b.md §1.2', 'b.md', 'a.md §1', 'b.md §2', 'c.md §1'];
  const rows = sources.flatMap((source) => section(source, [['PK-1-01', 'none', '']]));
  expect(badSources(rows, texts)).toEqual(['b.md', 'a.md §1', 'b.md §2', 'c.md §1']);
});

function rowOf(id: string): readonly [string, 'none', string] {
  return [id, 'none', ''];
}

const wrong = [
  { title: 'an unknown id', cite: 'PK-1-03@oneshot', says: 'there is no such row' },
  {
    title: 'a row without its transport',
    cite: 'PK-1-01',
    says: 'the row has PK-1-01@oneshot and PK-1-01@server',
  },
  { title: 'a transport that the row lacks', cite: 'PK-1-02@oneshot', says: 'the row has PK-1-02@server' },
  { title: 'both where the row has one', cite: 'PK-1-02@both', says: 'the row has PK-1-02@server' },
  { title: 'a transport where the row has none', cite: 'DS-CLI-01@server', says: 'the row has DS-CLI-01' },
  {
    title: 'an interpolated transport',
    cite: 'PK-1-01@',
    says: 'the row has PK-1-01@oneshot and PK-1-01@server',
  },
];

test.each(wrong)('$title is no citation', ({ cite, says }) => {
  expect(badCitations(example, cites(`test('${cite}')`))).toEqual([`x.test.ts cites ${cite}: ${says}`]);
});

test('correct citations are accepted', () => {
  expect(
    badCitations(example, cites("test('PK-1-01@both PK-1-01@server PK-1-02@server DS-CLI-01')")),
  ).toEqual([]);
});

test('a title that claims both transports is found', () => {
  const module = parseModule('x.test.ts', "test('a [PK-1-01@both]'); row({ cites: 'PK-1-01@both' })");
  expect(vagueTitles([module])).toEqual(['x.test.ts: a [PK-1-01@both]']);
});

test('each uncited cell is listed', () => {
  expect(uncited(example, cites("test('PK-1-01@server')"))).toEqual([
    'PK-1-01@oneshot     First. (a document, promptkit)',
    'PK-1-02@server      Second. (a document, promptkit)',
    'DS-CLI-01           Third. (a document, promptkit)',
  ]);
  expect(uncited(example, cites("test('PK-1-01@both PK-1-02@server DS-CLI-01')"))).toEqual([]);
});
