import type { Group } from '../group.ts';
import {
  commands,
  type Ended,
  inShell,
  judge,
  newDesk,
  notBuilt,
  printing,
  runProgram,
  type Start,
} from './program.ts';

interface Stream {
  readonly title: string;
  readonly start: Omit<Start, 'cwd'>;
  /** stdout accepts nothing, so the command must report the lost document. */
  readonly isLost?: true;
}

const closed = (what: string): Stream => ({
  title: `with ${what}`,
  start: { prefix: inShell(`exec ${what};`) },
});

const streams: readonly Stream[] = [
  ...['>&-', '2>&-', '<&-', '>&- 2>&- <&-', '2>/dev/full', '</dev/full'].map(closed),
  { ...closed('>/dev/full'), isLost: true },
  { ...closed('>/dev/full 2>/dev/full'), isLost: true },
  { title: 'with a reader of stdout that is gone', start: { isUnread: true } },
];

/** The runtime's own streams closed, full or broken, for every command that prints. */
export const streamFaults: Group = {
  name: 'streams of the program itself',
  every: 65,
  missing: notBuilt,
  async *run(isChosen) {
    let at = 0;
    const cwd = newDesk();
    for (const { args, code } of [...commands, ...printing])
      for (const json of [[], ['--json']])
        for (const stream of streams) {
          if (!isChosen(at++)) continue;
          const all = [...args, ...json];
          const ended = await runProgram(all, { cwd, ...stream.start });
          yield judge(`streams: ${stream.title}`, all.join(' '), ended, (it) =>
            problemOf(it, { stream, args: all, code }),
          );
        }
  },
};

interface Called {
  readonly stream: Stream;
  readonly args: readonly string[];
  readonly code: number;
}

/** docs/reference/command-line.md: eval commands exit with 2 if stdout cannot be written, others with at least 1. */
function problemOf({ code }: Ended, { stream, args, code: usual }: Called): string | undefined {
  const onStderr =
    !args.includes('--json') &&
    ['validate', 'nonsense', 'nobody', 'keys', 'pending', 'runs'].some((word) => args.includes(word));
  if (stream.start.isUnread)
    return code === usual || code === 1 || code === 2 ? undefined : `it should end with ${usual}`;
  if (stream.isLost !== true || onStderr || usual !== 0)
    return code === usual ? undefined : `it should end with ${usual}`;
  const lost = args[0] === 'eval' ? 2 : 1;
  return code === lost ? undefined : `its document is lost, and it should end with ${lost}`;
}
