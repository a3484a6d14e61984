import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toFault } from '../../src/base/errors.ts';
import { requirePlatform } from '../../src/base/platform.ts';

const root = join(import.meta.dirname, '../..');

test.each([
  { title: 'the oldest Node that will do', versions: { node: '22.18.0' }, says: undefined },
  { title: 'a newer one', versions: { node: '24.0.0' }, says: undefined },
  { title: 'one that is not yet out', versions: { node: '23.0.0-nightly20261122abcdef' }, says: undefined },
  {
    title: 'one minor version too old',
    versions: { node: '22.17.9' },
    says: `Signalbox needs Node.js 22.18 or newer, but this is 22.17.9 (${process.execPath})`,
  },
  {
    title: 'one that is older by far',
    versions: { node: '20.20.2' },
    says: `Signalbox needs Node.js 22.18 or newer, but this is 20.20.2 (${process.execPath})`,
  },
  {
    title: 'Bun, which says that it is a Node',
    versions: { node: '24.3.0', bun: '1.4.5' },
    says: 'Signalbox does not run on Bun (this is Bun 1.4.5)',
  },
])('a platform that is $title', ({ versions, says }) => {
  const check = () => requirePlatform(versions);
  if (says === undefined) expect(check).not.toThrow();
  else expect(faultOf(check)).toMatchObject({ code: 'PLATFORM_UNSUPPORTED', message: says });
});

function faultOf(check: () => void) {
  try {
    check();
    return undefined;
  } catch (error) {
    return toFault(error);
  }
}

test('package.json lists the same platforms', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(engines).toEqual({ node: '>=22.18' });
});

const programs = ['cli', 'cli/pii'].map((folder) => join(root, `src/${folder}/main.ts`));

function disguise(version: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'old-')), 'old.cjs');
  writeFileSync(file, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
  return file;
}

test.each(programs)('on an older Node a program names the required version, and exits 2: %s', (program) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    '--require',
    disguise('20.1.0'),
    program,
    '--version',
  ]);
  expect({ status, stdout: stdout.toString() }).toEqual({ status: 2, stdout: '' });
  expect(stderr.toString()).toContain('Signalbox needs Node.js 22.18 or newer, but this is 20.1.0');
});

test('with --json it is one document on stdout', () => {
  const { status, stdout } = spawnSync(process.execPath, [
    ...['--require', disguise('20.1.0'), programs[0] ?? '', 'tool', 'list', '--json'],
  ]);
  expect([status, JSON.parse(stdout.toString()).error.code]).toEqual([2, 'PLATFORM_UNSUPPORTED']);
});

test('modules loaded before the check need nothing that an older Node lacks', () => {
  // Linking checks names imported from built-in modules, before any of our code runs.
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    Object.defineProperty(process.versions, 'node', { value: '20.1.0' });
    await import(${JSON.stringify(programs[0])});
    process.exitCode = 0;
    console.log(JSON.stringify(loaded.map((url) => url.replace(/.*\\/src\\//, ''))));
  `;
  const stdout = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(JSON.parse(stdout.toString())).toEqual([
    'cli/main.ts',
    'cli/process/refuse-platform.ts',
    'base/errors.ts',
    'base/platform.ts',
  ]);
});
