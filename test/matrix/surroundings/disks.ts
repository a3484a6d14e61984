import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { mayMount, withDisk } from '../../store/processes.ts';
import type { Group } from '../group.ts';
import { commands, type Ended, errorCodeIn, json, judge, newDesk, notBuilt, runProgram } from './program.ts';

const disks = [
  {
    title: 'a full disk',
    options: 'size=64k',
    before: 'head -c 1m /dev/zero > "$folder/fill" 2> /dev/null; true',
  },
  { title: 'a read-only disk', options: 'ro', before: 'true' },
] as const;

interface Place {
  readonly title: string;
  readonly folder: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly env?: Readonly<Record<string, string>>;
}

const [call, ask, evaluate, grade, fire, , run] = commands.map(({ args }) => json(...args));
const at = (
  title: string,
  folder: string,
  [args = [], code]: readonly [readonly string[] | undefined, number],
): Place => ({ title, folder, args, code });

/** Commands by the file that they cannot write. One that needs no file works; one that cannot store something fails. */
const places: readonly Place[] = [
  at('state.db of a run', '.signalbox', [run, 1]),
  at('state.db of a waiting call', '.signalbox', [ask, 1]),
  at('state.db of a list', '.signalbox', [json('pending', 'list', '-c', 'open.yaml'), 1]),
  at('state.db of a call', '.signalbox', [call, 0]),
  at('state.db of a hook', '.signalbox', [fire, 0]),
  at('evals.db', '.signalbox', [grade, 2]),
  at('evals.db of one eval', '.signalbox', [evaluate, 0]),
  at('keys.db', '.signalbox', [json('keys', 'create', 'alice'), 1]),
  at('a report', 'disk', [[...(grade ?? []), '--reporter', 'junit=disk/x.xml'], 2]),
  at('a report page', 'disk', [[...(grade ?? []), '--reporter', 'html=disk/x.html'], 2]),
  at('a new folder', 'disk', [['init', 'disk/new'], 2]),
  { ...at('TMPDIR of a call', 'disk', [call, 0]), env: { TMPDIR: 'disk' } },
  { ...at('TMPDIR of a hook', 'disk', [fire, 0]), env: { TMPDIR: 'disk' } },
  { ...at('TMPDIR of a suite', 'disk', [grade, 0]), env: { TMPDIR: 'disk' } },
];

export const diskFaults: Group = {
  name: 'disks that take nothing',
  every: 13,
  missing: notBuilt ?? (mayMount ? undefined : 'no file system can be mounted here'),
  async *run(isChosen) {
    let number = 0;
    for (const { title, options, before } of disks)
      for (const place of places) {
        if (!isChosen(number++)) continue;
        const cwd = newDesk();
        const folder = join(cwd, place.folder);
        mkdirSync(folder);
        const env = Object.fromEntries(
          Object.entries(place.env ?? {}).map(([name, own]) => [name, join(cwd, own)]),
        );
        const ended = await runProgram(place.args, { cwd, prefix: withDisk(folder, options, before), env });
        yield judge(`disk: ${title}`, place.title, ended, (it) => problemOf(it, place));
      }
  },
};

function problemOf({ code, stdout, stderr }: Ended, { code: expected }: Place): string | undefined {
  if (code !== expected) return `it should end with ${expected}`;
  if (expected === 0) return undefined;
  const named = errorCodeIn(stdout) ?? /\[([A-Z_]+)\]/.exec(stderr)?.[1];
  return named === undefined || named === 'INTERNAL' ? 'it names no code of its own' : undefined;
}
