import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { processClass } from '../ending.ts';
import { fixture } from '../entry.ts';
import type { Child, Fault, Scene } from '../fault.ts';
import { isForeign, type Target } from '../targets.ts';

const byFile = processClass({ by: 'command', isUnread: true });
const byEntry = processClass({ by: 'start', isUnread: true });

/** The shell would run a file without a first line as a script. */
const isNoShell = ({ dialect }: Target) => dialect !== 'agentao';

function file(id: string, make: (path: string) => void, more: Partial<Fault> = {}): Fault {
  return {
    area: 'start',
    id,
    class: byFile,
    ...more,
    child: ({ folder }) => {
      const command = join(folder, 'fault');
      make(command);
      return { command, isFile: true };
    },
  };
}

const script = (text: string | Uint8Array) => (path: string) => writeFileSync(path, text, { mode: 0o755 });
const link = (to: string) => (path: string) => symlinkSync(to, path);

function knowsNoOther(): boolean {
  const folder = '/proc/sys/fs/binfmt_misc';
  return !existsSync(folder) || readdirSync(folder).every((name) => name === 'register' || name === 'status');
}

const isRefused = (target: Target) => isNoShell(target) && knowsNoOther();

const program = (change: (bytes: Buffer) => Uint8Array) => script(change(readFileSync('/bin/true')));

function entry(id: string, child: (scene: Scene) => Partial<Child>, fits: Fault['fits'] = isStarted): Fault {
  const start = (scene: Scene) => ({
    command: fixture('misbehaves.sh'),
    args: ['after', 'exit', '0'],
    ...child(scene),
  });
  return { area: 'start', id, class: byEntry, fits, child: start };
}

/** chibi's plugins start when the config is loaded, and forked processes have no arguments of their own. */
function isStarted({ dialect, transport }: Target): boolean {
  return dialect !== 'chibi' && transport !== 'fork';
}

function hasFolder(target: Target): boolean {
  return isStarted(target) && target.dialect !== 'picoclaw';
}

const isNamed = (target: Target) => !isForeign(target) || target.dialect === 'picoclaw';
const named = (command: string) => (): Child => ({ command, isFile: true });
const long = 'x'.repeat(200_000);

export const starts: readonly Fault[] = [
  file('is missing', () => {}),
  file('is not executable', (path) => writeFileSync(path, '#!/bin/sh\n', { mode: 0o644 })),
  file('is a folder', (path) => mkdirSync(path)),
  file('is a device', link('/dev/null')),
  file('is a link to nothing', link('is-not-there')),
  file('is a link to itself', link('fault')),
  file('is empty', script(''), { fits: isNoShell }),
  file('has no #! line', script('echo ok\n'), { fits: isNoShell }),
  file('has an empty #! line', script('#!\necho ok\n'), { fits: isNoShell }),
  file('needs an interpreter that is missing', script('#!/is/not/there\n')),
  file('has a folder for an interpreter', script('#!/tmp\n')),
  file('has Windows line ends', script('#!/bin/sh\r\necho ok\r\n')),
  file('is a script in UTF-16', script(Buffer.from('\ufeff#!/bin/sh\nexit 3\n', 'utf16le')), {
    fits: isNoShell,
  }),
  file(
    'is a program that was cut off',
    program((bytes) => bytes.subarray(0, 100)),
    { fits: isRefused },
  ),
  file(
    'is a program for another machine',
    program((bytes) => Buffer.concat([bytes.subarray(0, 18), Buffer.from([0xf3, 0]), bytes.subarray(20)])),
    {
      fits: isRefused,
    },
  ),
  file('is being written', beingWritten, { isHeavy: true }),
  {
    area: 'start',
    id: 'is not on PATH',
    class: byFile,
    fits: isNamed,
    child: named('signalbox-is-not-there'),
  },
  {
    area: 'start',
    id: 'has a name that is too long',
    class: byFile,
    fits: isNamed,
    child: named(`/tmp/${'x'.repeat(300)}`),
  },
  entry('has an argument that is too long', () => ({ args: [long] })),
  entry('has a variable that is too long', () => ({ env: [`LONG=${long}`] })),
  entry('has a folder that is missing', () => ({ settings: { cwd: 'is-not-there' } }), hasFolder),
  entry('has a file for a folder', () => ({ settings: { cwd: 'runtime.yaml' } }), hasFolder),
];

function beingWritten(path: string): void {
  copyFileSync('/bin/true', path);
  const descriptor = openSync(path, 'r+');
  setTimeout(() => closeSync(descriptor), 20_000).unref();
}
