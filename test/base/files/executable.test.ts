import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { createExecutableFinder, findExecutable } from '../../../src/base/files/executable.ts';

const root = mkdtempSync(join(tmpdir(), 'executable-'));
const here = makeFolder('here');
const first = makeFolder('first');
const second = makeFolder('second');
const searchPath = [first, '', join(root, 'no-such-folder'), second].join(delimiter);

function makeFolder(name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  return path;
}

function write(path: string, content: string | Buffer, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

const script = '#!/bin/sh\necho hi\n';
write(join(here, 'good.sh'), script, 0o755);
write(join(here, 'tools/nested.sh'), script, 0o755);
write(join(here, 'two words.sh'), script, 0o755);
mkdirSync(join(here, 'my tools'));
write(join(here, 'plain.txt'), script, 0o644);
write(join(here, 'bare.py'), 'print("hi")\n', 0o755);
write(join(here, 'empty'), '', 0o755);
write(join(here, 'windows.sh'), '#!/bin/sh\r\necho hi\r\n', 0o755);
write(join(here, 'binary'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]), 0o755);
write(join(here, 'only-here'), script, 0o755);
write(join(root, 'above.sh'), script, 0o755);
symlinkSync(join(here, 'good.sh'), join(here, 'link.sh'));
symlinkSync(join(here, 'gone.sh'), join(here, 'dangling.sh'));
symlinkSync('loop.sh', join(here, 'loop.sh'));
writeFileSync(join(here, 'nameless.sh'), '#! \necho ok\n', { mode: 0o755 });
write(join(first, 'both'), script, 0o755);
write(join(second, 'both'), script, 0o755);
write(join(first, 'shadowed'), script, 0o644);
write(join(second, 'shadowed'), script, 0o755);
write(join(first, 'locked'), script, 0o644);
write(join(first, 'headless'), 'echo hi\n', 0o755);
mkdirSync(join(first, 'folder'));
write(join(second, 'folder'), script, 0o755);

const found = [
  { title: 'a path relative to the folder', command: './good.sh', path: join(here, 'good.sh') },
  { title: 'a path without the dot', command: 'tools/nested.sh', path: join(here, 'tools/nested.sh') },
  { title: 'a path above the folder', command: '../above.sh', path: join(root, 'above.sh') },
  { title: 'an absolute path', command: join(here, 'good.sh'), path: join(here, 'good.sh') },
  { title: 'a path with a space in it', command: './two words.sh', path: join(here, 'two words.sh') },
  { title: 'a link to a program', command: './link.sh', path: join(here, 'link.sh') },
  { title: 'a binary, which needs no #! line', command: './binary', path: join(here, 'binary') },
  { title: 'a bare name, the first on the search path', command: 'both', path: join(first, 'both') },
  { title: 'a bare name past a file that cannot run', command: 'shadowed', path: join(second, 'shadowed') },
  { title: 'a bare name past a folder of that name', command: 'folder', path: join(second, 'folder') },
];

test.each(found)('finds $title', ({ command, path }) => {
  expect(findExecutable(command, here, searchPath)).toEqual({ found: true, path });
});

describe('a program of this package', () => {
  const { bin } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

  test.each(Object.entries(bin))('%s is found in this package, whatever else is on PATH', (name, file) => {
    write(join(first, name), script, 0o755);
    const main = fileURLToPath(new URL(`../../../${file}`, import.meta.url));
    const own = { found: true, path: process.execPath, leading: [main] };
    expect(findExecutable(name, here, searchPath)).toEqual(own);
    expect(createExecutableFinder()(name, here, '')).toEqual(own);
    const path = join(first, name);
    expect(findExecutable(path, here, '')).toEqual({ found: true, path });
  });

  test('a misspelt name gets the existing names', () => {
    expect(findExecutable('signalbox-pi', here, searchPath)).toMatchObject({
      found: false,
      hint: expect.stringContaining('signalbox-pii'),
    });
  });
});

const refused = [
  {
    title: 'an empty command',
    command: '',
    reason: 'the command is empty',
    hint: 'Set `command` to a program.',
  },
  {
    title: 'a path that does not exist',
    command: './gone.sh',
    reason: `${join(here, 'gone.sh')} does not exist`,
    hint: 'did you mean `./good.sh`?',
  },
  {
    title: 'a link that leads nowhere',
    command: './dangling.sh',
    reason: `${join(here, 'dangling.sh')} does not exist`,
    hint: 'Check the path; it is relative to the config file’s folder.',
  },
  {
    title: 'a link to itself',
    command: './loop.sh',
    reason: `${join(here, 'loop.sh')} cannot be reached: ELOOP`,
    hint: 'Check the links and the permissions of the folders on its path.',
  },
  {
    title: 'a name that no file can have',
    command: `./${'x'.repeat(300)}`,
    reason: `${join(here, 'x'.repeat(300))} cannot be reached: ENAMETOOLONG`,
    hint: 'Check the links and the permissions of the folders on its path.',
  },
  {
    title: 'a folder',
    command: './tools',
    reason: `${join(here, 'tools')} is a folder`,
    hint: 'Name the program inside it.',
  },
  {
    title: 'a file that is not executable',
    command: './plain.txt',
    reason: `${join(here, 'plain.txt')} is not executable`,
    hint: `Run \`chmod +x ${join(here, 'plain.txt')}\`.`,
  },
  {
    title: 'a script without a #! line',
    command: './bare.py',
    reason: `${join(here, 'bare.py')} has no #! line`,
    hint: 'Start the script with a line such as `#!/usr/bin/env python3`.',
  },
  {
    title: 'an empty file',
    command: './empty',
    reason: `${join(here, 'empty')} has no #! line`,
    hint: 'Start the script with a line such as `#!/usr/bin/env python3`.',
  },
  {
    title: 'two words, of which the first is a program',
    command: 'both x.py',
    reason: '"both x.py" is not on PATH',
    hint: '`command` is one program name; put the other words into `args: [x.py]`.',
  },
  {
    title: 'a path and further words',
    command: './good.sh --fast -v',
    reason: `${join(here, 'good.sh')} --fast -v does not exist`,
    hint: '`command` is one program name; put the other words into `args: [--fast, -v]`.',
  },
  {
    title: 'a path in a folder with a space in its name',
    command: join(here, 'my tools/bin/gone.sh'),
    reason: `${join(here, 'my tools/bin/gone.sh')} does not exist`,
    hint: 'Check the path; it is relative to the config file’s folder.',
  },
  {
    title: 'a path in a folder with a space in its name, and a further word',
    command: './my tools/gone.sh --fast',
    reason: `${join(here, 'my tools/gone.sh')} --fast does not exist`,
    hint: '`command` is one program name; put the other words into `args: [--fast]`.',
  },
  {
    title: 'a bare name that only the folder has',
    command: 'only-here',
    reason: '"only-here" is not on PATH',
    hint: `${here} has a file only-here: did you mean \`./only-here\`?`,
  },
  {
    title: 'a bare name that nobody has',
    command: 'nowhere',
    reason: '"nowhere" is not on PATH',
    hint: 'Install it, or give a path that contains a slash.',
  },
  {
    title: 'a bare name whose only file is not executable',
    command: 'locked',
    reason: `${join(first, 'locked')} is not executable`,
    hint: `Run \`chmod +x ${join(first, 'locked')}\`.`,
  },
  {
    title: 'a bare name whose only file has no #! line',
    command: 'headless',
    reason: `${join(first, 'headless')} has no #! line`,
    hint: 'Start the script with a line such as `#!/usr/bin/env python3`.',
  },
];

test.each(refused)('refuses $title, and names the next step', ({ command, reason, hint }) => {
  expect(findExecutable(command, here, searchPath)).toEqual({
    found: false,
    reason,
    hint,
    isMisspelt: false,
  });
});

test('refuses a script with Windows line ends, which names a missing program', () => {
  expect(findExecutable('./windows.sh', here, searchPath)).toEqual({
    found: false,
    reason: `${join(here, 'windows.sh')} has Windows line ends (CRLF): its #! line names "/bin/sh\\r", which is not a program`,
    hint: `Save it with LF line ends: \`sed -i 's/\\r$//' ${join(here, 'windows.sh')}\`.`,
    isMisspelt: true,
  });
});

test('refuses a script whose #! line names no program', () => {
  expect(findExecutable('./nameless.sh', here, searchPath)).toEqual({
    found: false,
    reason: `the #! line of ${join(here, 'nameless.sh')} does not name a program`,
    hint: 'Start the script with a line such as `#!/bin/sh`.',
    isMisspelt: true,
  });
});

test('finds no bare name on an empty search path', () => {
  expect(findExecutable('both', root, '')).toEqual({
    found: false,
    isMisspelt: false,
    reason: '"both" is not on PATH',
    hint: 'Install it, or give a path that contains a slash.',
  });
});

test('finds the node that runs this test, by name and by path', () => {
  const folder = dirname(process.execPath);
  expect(findExecutable('node', here, folder)).toEqual({ found: true, path: join(folder, 'node') });
  expect(findExecutable(process.execPath, here, '')).toEqual({ found: true, path: process.execPath });
});

describe('a program that was found once', () => {
  const folder = makeFolder('changing');
  const early = makeFolder('early');
  const path = join(folder, 'tool');
  const find = createExecutableFinder();
  const found = { found: true, path };
  const onPath = () => find('tool', here, [early, folder].join(delimiter));
  const byPath = () => find('./tool', folder, '');

  beforeEach(() => {
    rmSync(join(early, 'tool'), { force: true });
    rmSync(path, { force: true });
    write(path, script, 0o755);
    expect([onPath(), byPath(), onPath(), byPath()]).toEqual([found, found, found, found]);
  });

  test('is found again', () => {
    expect([onPath(), byPath()]).toEqual([found, found]);
  });

  test.each([
    { title: 'deleted', change: () => rmSync(path) },
    { title: 'made a file that cannot be executed', change: () => chmodSync(path, 0o644) },
    {
      title: 'replaced by a folder',
      change: () => {
        rmSync(path);
        mkdirSync(path);
      },
      undo: () => rmdirSync(path),
    },
    {
      title: 'replaced by a file of the same length and time that cannot be run',
      change: () => {
        const { atime, mtime } = statSync(path);
        write(join(folder, 'other'), script.replace('#!', '# '), 0o755);
        utimesSync(join(folder, 'other'), atime, mtime);
        renameSync(join(folder, 'other'), path);
      },
    },
    {
      title: 'written anew in its place with Windows line ends',
      change: () => writeFileSync(path, script.replaceAll('\n', '\r\n')),
    },
  ])('is found no more when it is $title', ({ change, undo }) => {
    change();
    const now = [onPath().found, byPath().found];
    undo?.();
    expect(now).toEqual([false, false]);
  });

  test('is replaced by a file of that name that appears earlier on the search path', () => {
    write(join(early, 'tool'), script, 0o755);
    expect(onPath()).toEqual({ found: true, path: join(early, 'tool') });
    rmSync(join(early, 'tool'));
    expect(onPath()).toEqual(found);
  });

  test('is replaced by an earlier file that becomes executable', () => {
    write(join(early, 'tool'), script, 0o644);
    expect(onPath()).toEqual(found);
    chmodSync(join(early, 'tool'), 0o755);
    expect(onPath()).toEqual({ found: true, path: join(early, 'tool') });
  });

  test('is not cached where it was not found', () => {
    rmSync(path);
    expect([onPath().found, byPath().found]).toEqual([false, false]);
    write(path, script, 0o755);
    expect([onPath(), byPath()]).toEqual([found, found]);
  });
});
