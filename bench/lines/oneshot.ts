import { buildNative } from '../native/build.ts';
import type { Bench, Line, Way } from '../run/line.ts';
import { bareExeca } from '../ways/bare-execa.ts';
import { bareSpawn } from '../ways/bare-spawn.ts';
import { spawnLoop } from '../ways/spawn-loop.ts';
import { toolCall } from '../ways/tool-call.ts';
import { listPrograms, type Program } from './programs.ts';

const args = { city: 'Oslo' };
const request = `${JSON.stringify({ args })}\n`;

/** One-shot calls of four kinds of programs, with 1 to 8 at once. */
export const oneshot: Bench = {
  name: 'oneshot',
  about: 'a process for each call, against a C posix_spawn loop, node:child_process and execa',
  lines: async () =>
    listPrograms().flatMap((program) =>
      [1, 2, 4, 8].map((atOnce) => ({
        id: `oneshot/${program.name}-${atOnce}`,
        title: `${program.title}, ${atOnce} at once`,
        unit: '/s',
        short: program.name === 'trivial' && atOnce === 8,
        ways: waysOf(program, atOnce),
      })),
    ),
};

/** The same calls from a process with much resident memory, whose page tables fork would have to copy. */
export const resident: Bench = {
  name: 'resident',
  about: 'one-shot calls of a process that holds 60, 300 or 900 MB',
  lines: async () => {
    const [program] = listPrograms();
    if (program === undefined) return 'there is no program to start';
    return [60, 300, 900].map(
      (residentMb): Line => ({
        id: `resident/${program.name}-${residentMb}`,
        title: `${program.title}, 8 at once, ${residentMb} MB held`,
        unit: '/s',
        ways: waysOf(program, 8, residentMb),
      }),
    );
  },
};

/** The C loop comes first, if there is one. */
function waysOf({ command }: Program, atOnce: number, residentMb = 0): Way[] {
  const native = buildNative();
  const bare = { command, request, atOnce };
  const [program, ...rest] = command;
  const spec = {
    concurrency: atOnce,
    tools: { bench: { description: 'answers', exec: { command: program, args: rest } } },
  };
  const loop =
    native === undefined
      ? []
      : [spawnLoop('C posix_spawn loop', { loop: native['spawn-loop'], ...bare, residentMb })];
  return [
    ...loop,
    bareSpawn('node:child_process', bare, { residentMb, aside: native !== undefined }),
    bareExeca('execa', bare, { residentMb, aside: true }),
    toolCall('signalbox', { spec, args, atOnce }, { residentMb }),
  ];
}
