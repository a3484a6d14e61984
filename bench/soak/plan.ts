import { pythonWithImports } from '../lines/programs.ts';
import type { Native } from '../native/build.ts';
import type { Load } from './load.ts';

const killed = ['SERVER_EXIT', 'SERVER_CIRCUIT_OPEN'];
/** Targets for ten minutes, plus a fifth. */
export const loads: readonly Load[] = [
  { tool: 'oneshot', atOnce: 8, goal: 1000, expected: [] },
  { tool: 'spare', atOnce: 1, goal: 2, expected: [] },
  { tool: 'fork', atOnce: 1, goal: 2, expected: [] },
  { tool: 'server', atOnce: 64, goal: 14_000, expected: killed },
  { tool: 'servers', atOnce: 64, goal: 6000, expected: killed },
];

/** The global limit exceeds the number of calls in flight of all loads. */
export function specOf({ trivial, 'echo-server': echo }: Native): object {
  const [command, ...args] = pythonWithImports().command;
  const serve = { command: echo, runtime: 'server' };
  return {
    concurrency: 256,
    tools: {
      spare: { description: 'answers', exec: { command, args, warm: 2 } },
      fork: { description: 'answers', exec: { command, args, runtime: 'fork' } },
      oneshot: { description: 'answers', exec: { command: trivial } },
      server: { description: 'echoes', exec: serve },
      servers: { description: 'echoes, four of it', exec: { ...serve, instances: 4 } },
    },
  };
}
