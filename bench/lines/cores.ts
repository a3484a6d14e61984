import { availableParallelism } from 'node:os';
import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench, Line } from '../run/line.ts';
import { bareExeca } from '../ways/bare-execa.ts';
import { bareServer } from '../ways/bare-server.ts';
import { spawnLoop } from '../ways/spawn-loop.ts';
import { toolCall } from '../ways/tool-call.ts';
import { pythonWithImports } from './programs.ts';

const args = { city: 'Oslo' };
const request = `${JSON.stringify({ args })}\n`;

/** The lines of the table of `--cores`: what a machine with more cores does more of. */
export const cores: Bench = {
  name: 'cores',
  about: 'one-shot calls, Python, forks and servers on the cores that this process may use',
  isNamedOnly: true,
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const atOnce = Math.max(8, 2 * availableParallelism());
    const loop = native['spawn-loop'];
    const trivial = { command: [native.trivial], request, atOnce };
    const python = { command: pythonWithImports().command, request, atOnce };
    return [
      {
        id: 'cores/one-shot',
        title: `trivial static program, ${atOnce} at once`,
        unit: '/s',
        ways: [
          spawnLoop('C posix_spawn loop', { loop, ...trivial }),
          toolCall('signalbox', { spec: specOf(trivial.command, {}, atOnce), args, atOnce }),
          bareExeca('execa', trivial),
        ],
      },
      {
        id: 'cores/python',
        title: `Python script with ten imports, ${atOnce} at once`,
        unit: '/s',
        ways: [
          spawnLoop('C posix_spawn loop', { loop, ...python }),
          toolCall('signalbox', { spec: specOf(python.command, {}, atOnce), args, atOnce }),
          toolCall('signalbox, fork', {
            spec: specOf(python.command, { runtime: 'fork' }, atOnce),
            args,
            atOnce,
          }),
        ],
      },
      ...[64, 1].map((inFlight) => serverLine(native['echo-server'], inFlight)),
      computingLine(native['echo-server']),
    ];
  },
};

function serverLine(server: string, atOnce: number): Line {
  const spec = specOf([server], { runtime: 'server', concurrency: atOnce }, atOnce);
  return {
    id: `cores/server-${atOnce}`,
    title: `server in C, ${atOnce} in flight`,
    unit: '/s',
    ways: [
      bareServer('bare pipelined loop', { command: [server], params: { args }, atOnce }),
      toolCall('signalbox', { spec, args, atOnce }),
    ],
  };
}

function computingLine(server: string): Line {
  const command = [server, '2000'];
  const way = (name: string, instances: number) => {
    const spec = specOf(command, { runtime: 'server', concurrency: 64, instances }, 64);
    return toolCall(name, { spec, args, atOnce: 64 });
  };
  return {
    id: 'cores/computing',
    title: 'server in C that uses 2 ms of CPU for each request, 64 in flight',
    unit: '/s',
    ways: [
      bareServer('bare pipelined loop', { command, params: { args }, atOnce: 64 }),
      way('signalbox, one instance', 1),
      way('signalbox, an instance for each core', availableParallelism()),
    ],
  };
}

function specOf([command, ...rest]: readonly string[], more: object, concurrency: number): object {
  const exec = { command, args: rest, ...more };
  return { concurrency, tools: { bench: { description: 'answers', exec } } };
}
