import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mayMount, withDisk } from '../../store/processes.ts';
import type { Group } from '../group.ts';
import { type Ended, errorCodeIn, json, judge, newDesk, notBuilt, runProgram } from './program.ts';

type Spoil = (file: string, text: string) => void;

const says = (change: (text: string) => string | Buffer): Spoil => {
  return (file, text) => writeFileSync(file, change(text));
};
const instead = (make: (file: string) => void): Spoil => {
  return (file) => {
    rmSync(file);
    make(file);
  };
};
const linesOf = (text: string) => text.split(/(?<=\n)/);

const replayed: readonly { readonly title: string; readonly spoil: Spoil }[] = [
  { title: 'is missing', spoil: instead(() => {}) },
  { title: 'is a folder', spoil: instead((file) => mkdirSync(file)) },
  { title: 'is a link to itself', spoil: instead((file) => symlinkSync(file, file)) },
  { title: 'is a pipe that nobody writes to', spoil: instead((file) => void spawnSync('mkfifo', [file])) },
  { title: 'is a device without an end', spoil: instead((file) => symlinkSync('/dev/zero', file)) },
  { title: 'is empty', spoil: says(() => '') },
  { title: 'is cut off in its first half', spoil: says((text) => text.slice(0, text.length / 3)) },
  { title: 'has no texts', spoil: says((text) => text.replaceAll(/^\{"blob".*\n/gm, '')) },
  {
    title: 'has a line that is none',
    spoil: says((text) => linesOf(text).toSpliced(1, 0, 'no line\n').join('')),
  },
  { title: 'has a line of 60 MB', spoil: says((text) => `{"blob":"${'x'.repeat(60_000_000)}"}\n${text}`) },
  { title: 'has brackets a million deep', spoil: says((text) => `${'['.repeat(1_000_000)}\n${text}`) },
  { title: 'is in UTF-16', spoil: says((text) => Buffer.from(`\ufeff${text}`, 'utf16le')) },
  { title: 'is of NUL bytes', spoil: says((text) => Buffer.alloc(text.length)) },
  { title: 'is of another version', spoil: says((text) => text.replaceAll('"exchange":1', '"exchange":9')) },
];

/** The recording's path, and what must exist before the program writes it. */
const recorded: readonly {
  readonly title: string;
  readonly file: string;
  readonly spoil?: (cwd: string) => void;
  readonly prefix?: (cwd: string) => readonly string[];
}[] = [
  { title: 'is in a folder that is missing', file: 'none/c.jsonl' },
  { title: 'is a folder', file: 'disk' },
  { title: 'takes no byte', file: 'full', spoil: (cwd) => symlinkSync('/dev/full', join(cwd, 'full')) },
  {
    title: 'has a line that is none',
    file: 'c.jsonl',
    spoil: (cwd) => writeFileSync(join(cwd, 'c.jsonl'), 'no\nno\n'),
  },
  { title: 'is removed meanwhile', file: 'c.jsonl', spoil: (cwd) => removing(join(cwd, 'score')) },
  ...(mayMount
    ? [
        {
          title: 'is on a full disk',
          file: 'disk/c.jsonl',
          prefix: (cwd: string) =>
            withDisk(
              join(cwd, 'disk'),
              'size=64k',
              'head -c 1m /dev/zero > "$folder/fill" 2> /dev/null; true',
            ),
        },
      ]
    : []),
];

function removing(program: string): void {
  writeFileSync(program, readFileSync(program, 'utf8').replace('\n', '\nrm -f "$(dirname "$0")/c.jsonl"\n'));
}

const grade = (flag: string, file: string) => json('eval', 'run', 's.suite.yaml', flag, file);

export const cassetteFaults: Group = {
  name: 'recordings',
  every: 11,
  missing: notBuilt,
  async *run(isChosen) {
    let at = 0;
    for (const { title, spoil } of replayed) {
      if (!isChosen(at++)) continue;
      const cwd = newDesk();
      const file = join(cwd, 'c.jsonl');
      await runProgram(grade('--record', file), { cwd });
      spoil(file, readFileSync(file, 'utf8'));
      const ended = await runProgram(grade('--replay', file), { cwd });
      yield judge(`cassette: one to replay ${title}`, 'a suite', ended, whyReplayed);
    }
    for (const { title, file, spoil, prefix } of recorded)
      if (isChosen(at++)) {
        const cwd = newDesk();
        mkdirSync(join(cwd, 'disk'));
        spoil?.(cwd);
        const ended = await runProgram(grade('--record', file), {
          cwd,
          ...(prefix && { prefix: prefix(cwd) }),
        });
        yield judge(`cassette: one to write ${title}`, 'a suite', ended, whyRecorded);
      }
  },
};

/**
 * docs/guides/record-and-replay.md and docs/reference/cassettes.md: an unreadable recording or a missing exchange is an
 * error. A missing text is unscored.
 */
function whyReplayed({ code, stdout, stderr }: Ended): string | undefined {
  if (code === 1) return stdout.includes('"scored":0') ? undefined : 'it has scored what is not there';
  if (code !== 2) return 'it should end with 2';
  const isTold = errorCodeIn(stdout) === 'FILE_UNREADABLE' || stderr.includes('not in the cassette');
  return isTold ? undefined : 'it should be FILE_UNREADABLE, or void';
}

/** An incomplete recording must be reported by the command's error or as the reason why its run is void. */
function whyRecorded({ code, stdout, stderr }: Ended): string | undefined {
  if (code !== 2) return 'it should end with 2';
  const isTold = errorCodeIn(stdout) === 'FILE_UNREADABLE' || stderr.includes('void:');
  return isTold ? undefined : 'it should be FILE_UNREADABLE, or void';
}
