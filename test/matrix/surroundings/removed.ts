import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Group } from '../group.ts';
import { type Ended, errorCodeIn, json, judge, newDesk, notBuilt, runProgram } from './program.ts';

const inEach = (does: string) => `for file in "$state"/*.db; do ${does}; done`;

/** Changes to the state folder, made by a program during the work. */
const deeds: readonly { readonly title: string; readonly does: string; readonly isDamage?: true }[] = [
  { title: 'is removed', does: 'rm -rf "$state"' },
  { title: 'is renamed', does: 'mv "$state" "$state.old"' },
  { title: 'is replaced by a file', does: 'rm -rf "$state"; echo > "$state"' },
  { title: 'loses its databases', does: 'rm -f "$state"/*.db' },
  { title: 'has other databases', does: inEach('cp "$file" "$file.copy"; mv "$file.copy" "$file"') },
  { title: 'has databases that are cut to nothing', does: inEach(': > "$file"') },
  {
    title: 'has databases that are overwritten',
    does: inEach(`tr '\\\\0-\\\\377' j < "$file" | dd of="$file" conv=notrunc 2> /dev/null`),
    // A process does not reread its pages; the next one reports the damage.
    isDamage: true,
  },
];

interface Work {
  readonly title: string;
  readonly args: readonly string[];
  readonly program: string;
  readonly answer: string;
  /** The exit code if its stored data can be found again. */
  readonly code: number;
  /** The command that finds it, and its expected output. Without it, nothing needs to be stored. */
  readonly found?: { readonly args: readonly string[]; readonly says: RegExp };
}

const works: readonly Work[] = [
  {
    title: 'a call that waits for a person',
    args: json('tool', 'call', 'ask', '-c', 'open.yaml'),
    ...{ program: 'ask', answer: '{"pending": {}}', code: 3 },
    found: { args: json('pending', 'list', '-c', 'open.yaml'), says: /"tool":"ask"/ },
  },
  {
    title: 'a run of a pipeline',
    args: json('run', 'p.pipeline.yaml'),
    ...{ program: 'echo', answer: '{"result": 1}', code: 0 },
    found: { args: json('runs', 'list', '-c', 'open.yaml'), says: /"status":"(completed|failed|running)"/ },
  },
  {
    title: 'a suite',
    args: json('eval', 'run', 's.suite.yaml'),
    ...{ program: 'score', answer: '{"score": 1}', code: 0 },
    found: { args: json('eval', 'list'), says: /"suite":/ },
  },
  {
    title: 'a call',
    args: json('tool', 'call', 'echo', '-c', 'open.yaml'),
    ...{ program: 'echo', answer: '{"result": 1}', code: 0 },
  },
];

/** Makes the change the first time; later it leaves a mark. */
const script = (does: string, answer: string) => `#!/bin/sh
cat > /dev/null
here=$(dirname "$0") state=$(dirname "$0")/.signalbox
if [ -e "$here/struck" ]; then echo >> "$here/mark"; else : > "$here/struck"; ${does}; fi
echo '${answer}'
`;

export const removedState: Group = {
  name: 'state folders that go',
  every: 17,
  missing: notBuilt,
  async *run(isChosen) {
    let at = 0;
    for (const { title, does, isDamage = false } of deeds)
      for (const work of works) {
        if (!isChosen(at++)) continue;
        const cwd = newDesk();
        // The state already has a pending call and a finished suite.
        for (const args of [works[0]?.args ?? [], works[2]?.args ?? []]) await runProgram(args, { cwd });
        writeFileSync(join(cwd, work.program), script(does, work.answer));
        const ended = await runProgram(work.args, { cwd });
        const found = work.found && (await runProgram(work.found.args, { cwd }));
        yield judge(`state: the folder ${title}`, work.title, ended, (it) =>
          problemOf(it, { work, found, isMarked: existsSync(join(cwd, 'mark')), isDamage }),
        );
      }
  },
};

interface After {
  readonly work: Work;
  readonly found: Ended | undefined;
  readonly isMarked: boolean;
  readonly isDamage: boolean;
}

/** Stored data must be found again, or the command must fail with a code. */
function problemOf(
  { code, stdout, stderr }: Ended,
  { work, found, isMarked, isDamage }: After,
): string | undefined {
  if (work.found === undefined) return code === work.code ? undefined : `it should end with ${work.code}`;
  const isFound = found?.code === 0 && work.found.says.test(found.stdout);
  if (isDamage && code === work.code && errorCodeIn(found?.stdout ?? '') === 'STORE_FAILED') return undefined;
  const what = `${found?.code} ${found?.stdout.slice(0, 300)} ${found?.stderr.slice(0, 300)}`;
  if (code === work.code) return isFound ? undefined : `it is told as kept, and not found: ${what}`;
  if (isMarked && work.program === 'echo' && !isFound) return `a step was done that is not kept: ${what}`;
  if (code !== 1 && code !== 2) return 'no such exit code';
  const named = errorCodeIn(stdout) ?? /\[([A-Z_]+)\]/.exec(stderr)?.[1];
  return named === undefined || named === 'INTERNAL' ? 'it names no code of its own' : undefined;
}
