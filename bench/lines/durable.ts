import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench, Line } from '../run/line.ts';
import { durable } from '../ways/durable.ts';

/** The cost of storing a run on disk. */
export const journal: Bench = {
  name: 'durable',
  about: 'steps of pipelines, each kept on the disk before the next, against the same calls by hand',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const exec = { command: native['echo-server'], runtime: 'server' };
    const trivial = { command: native.trivial };
    return [
      ...[1, 16].map((runs): Line => lineOf('step', runs, 'one-shot', { exec: trivial })),
      lineOf('server-step', 16, 'server', { exec }),
      lineOf('delay', 16, 'one-shot', { exec: trivial }),
    ];
  },
};

function lineOf(name: string, runs: number, what: string, more: object): Line {
  const delay = name === 'delay';
  const spec = { concurrency: 16, tools: { bench: { description: 'answers', ...more } } };
  const way = { spec, runs, steps: 20, delay };
  return {
    id: `durable/${name}-${runs}`,
    title: `${delay ? 'event-loop delay p99' : 'time of a step'}, ${what} tool, ${runs} at once`,
    unit: 'ms',
    count: 4 * runs * way.steps,
    warmUp: 2 * runs * way.steps,
    ways: [
      durable('calls by hand', { ...way, kept: false }),
      durable('signalbox run', { ...way, kept: true }),
    ],
  };
}
