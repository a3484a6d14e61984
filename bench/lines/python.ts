import type { Bench, Line, Way } from '../run/line.ts';
import { bareSpawn } from '../ways/bare-spawn.ts';
import { paced } from '../ways/paced.ts';
import { toolCall } from '../ways/tool-call.ts';
import { pythonWithImports } from './programs.ts';

const args = { city: 'Oslo' };
const request = `${JSON.stringify({ args })}\n`;
/** Longer than the start of a spare process. */
const gapMs = 150;

/** The part of the interpreter's startup time that a call still pays. */
export const warm: Bench = {
  name: 'warm',
  about: 'a Python script with ten imports, started ahead (warm) or forked, against a start for each call',
  lines: async () => [latency(), ...[1, 2, 8].map(rate)],
};

function latency(): Line {
  const { command } = pythonWithImports();
  const tool = (name: string, more: object) =>
    paced(name, { gapMs, work: { kind: 'tool', spec: specOf(more, 2), args } });
  return {
    id: 'warm/p50',
    title: `median time of a call of a Python script with ten imports, one every ${gapMs} ms`,
    unit: 'ms',
    count: 8,
    warmUp: 4,
    ways: [
      tool('signalbox, cold', {}),
      paced('node:child_process', { gapMs, work: { kind: 'spawn', command, request } }),
      tool('signalbox, warm: 2', { warm: 2 }),
      tool('signalbox, fork', { runtime: 'fork' }),
    ],
  };
}

function rate(atOnce: number): Line {
  const { command } = pythonWithImports();
  const tool = (name: string, more: object): Way =>
    toolCall(name, { spec: specOf(more, atOnce), args, atOnce });
  return {
    id: `warm/rate-${atOnce}`,
    title: `a Python script with ten imports, ${atOnce} at once without a pause`,
    unit: '/s',
    ways: [
      tool('signalbox, cold', {}),
      bareSpawn('node:child_process', { command, request, atOnce }),
      tool('signalbox, warm: 2', { warm: 2 }),
      tool('signalbox, fork', { runtime: 'fork' }),
    ],
  };
}

function specOf(more: object, concurrency: number): object {
  const [command, ...rest] = pythonWithImports().command;
  return {
    concurrency,
    tools: { bench: { description: 'answers', exec: { command, args: rest, ...more } } },
  };
}
