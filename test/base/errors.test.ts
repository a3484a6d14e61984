import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { catalogue, RuntimeError, toFault, toRuntimeError } from '../../src/base/errors.ts';

test('docs/reference/errors.md has exactly one row for every code, in the order of the catalogue', () => {
  const page = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const wanted = rowsOfCatalogue.map(
    ([code, { summary, hint, page }]) =>
      `| \`${code}\` | ${summary} | ${hint}${page === undefined ? '' : ` See ${linkTo(page)}.`} |`,
  );
  expect(rows, 'docs/reference/errors.md must have the rows that stand under "Expected" (-)').toEqual(wanted);
});

const rowsOfCatalogue = Object.entries<{ summary: string; hint: string; page?: string }>(catalogue);

function linkTo(page: string): string {
  return `[${basename(page, '.md').replaceAll('-', ' ')}](${page.replace('docs/', '../').replace('../reference/', '')})`;
}

test.each(rowsOfCatalogue.filter(([, { page }]) => page !== undefined))(
  'the page that %s names is in the package',
  (_, { page = '' }) => {
    expect(existsSync(new URL(`../../${page}`, import.meta.url))).toBe(true);
  },
);

test('every code is used somewhere in src', () => {
  const folder = new URL('../../src', import.meta.url).pathname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  // A quoted word is enough, because parsing every module takes seconds.
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const used = new Set(
    texts.flatMap((text) => [...text.matchAll(/'([A-Z][A-Z_]+)'/g)].map(([, code]) => code)),
  );
  const unused = Object.keys(catalogue).filter((code) => !used.has(code));
  expect(unused, 'codes that nothing in src mentions').toEqual([]);
});

test('an error without its own hint has the catalogue’s hint', () => {
  const error = new RuntimeError('NAME_UNKNOWN', 'tool "x" is not declared');
  expect({ ...error, message: error.message, cause: error.cause }).toEqual({
    name: 'RuntimeError',
    code: 'NAME_UNKNOWN',
    message: 'tool "x" is not declared',
    hint: catalogue.NAME_UNKNOWN.hint,
    details: {},
    cause: undefined,
  });
});

test('an error keeps its own hint, details and cause', () => {
  const cause = new Error('ENOENT');
  const error = new RuntimeError('PROCESS_START', 'no', { hint: 'Do it.', details: { stderr: 'x' }, cause });
  expect([error.hint, error.details, error.cause]).toEqual(['Do it.', { stderr: 'x' }, cause]);
});

test('an existing RuntimeError passes unchanged', () => {
  const error = new RuntimeError('USAGE', 'no');
  expect(toRuntimeError(error, 'INTERNAL')).toBe(error);
});

const thrown = [
  { title: 'an error', value: new TypeError('not a function'), message: 'not a function' },
  { title: 'a string', value: 'gone', message: 'gone' },
  { title: 'nothing', value: undefined, message: 'undefined' },
];

test.each(thrown)(
  '$title that was thrown becomes a RuntimeError and stays its cause',
  ({ value, message }) => {
    const error = toRuntimeError(value, 'FILE_UNREADABLE');
    expect(error).toBeInstanceOf(RuntimeError);
    expect([error.code, error.message, error.cause]).toEqual(['FILE_UNREADABLE', message, value]);
    expect(toRuntimeError(value).code).toBe('INTERNAL');
  },
);

test('a fault has details only if there are some', () => {
  expect(toFault(new RuntimeError('USAGE', 'no', { hint: 'Do it.' }))).toEqual({
    code: 'USAGE',
    message: 'no',
    hint: 'Do it.',
  });
  expect(toFault(new RuntimeError('USAGE', 'no', { hint: 'Do it.', details: { stderr: 'x' } }))).toEqual({
    code: 'USAGE',
    message: 'no',
    hint: 'Do it.',
    details: { stderr: 'x' },
  });
});

test('an exhausted system resource is reported as such, and not as a defect', () => {
  const failed = (code: string) => Object.assign(new Error(`${code}: open 'x'`), { code, syscall: 'open' });
  const codes = ['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].map(
    (code) => toRuntimeError(failed(code)).code,
  );
  expect(new Set(codes)).toEqual(new Set(['FILE_UNREADABLE']));
  expect([
    toRuntimeError(failed('EBADF')).code,
    toRuntimeError(failed('EMFILE'), 'STORE_FAILED').code,
  ]).toEqual(['INTERNAL', 'STORE_FAILED']);
});
