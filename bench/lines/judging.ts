import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench } from '../run/line.ts';
import { bareServer } from '../ways/bare-server.ts';
import { guardStream } from '../ways/guard-stream.ts';
import { suiteRun } from '../ways/suite-run.ts';

const tokens = 1000;

/** The cost of a guard for a stream that it allows. */
export const guard: Bench = {
  name: 'guard',
  about:
    'a guarded stream of 1,000 tokens (milliseconds of a stream: microseconds of a token), against a bare one',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const command = native['echo-server'];
    const spec = {
      hooks: { filter: { command, hook: 'provider', phases: ['after_call'], runtime: 'server' } },
    };
    return [
      {
        id: 'guard/stream-1000',
        title: 'a stream of 1,000 tokens, one server filter',
        unit: 'ms',
        ways: [
          guardStream('bare stream', { tokens }),
          guardStream('signalbox, held', { tokens, guard: { stream: 'hold', spec } }),
          guardStream('signalbox, windowed', { tokens, guard: { stream: 'windowed', spec } }),
        ],
      },
    ];
  },
};

const cases = 10_000;

/** Suites of 10,000 cases. */
export const suites: Bench = {
  name: 'suites',
  about:
    'a suite of 10,000 cases, judged by a server in C and by a check, against a bare loop that only asks',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const command = native['echo-server'];
    const params = {
      type: 'judge',
      params: {},
      content: 'Answer: it is open from nine to five.',
      context: {},
    };
    const evals = { judge: { command, runtime: 'server' } };
    return [
      {
        id: 'suites/server-10000',
        title: 'a suite of 10,000 cases',
        unit: '/s',
        count: cases,
        ways: [
          bareServer('bare pipelined loop, 64 in flight', { command: [command], params, atOnce: 64 }),
          suiteRun('signalbox, server', {
            spec: { concurrency: 64, evals },
            cases,
            judge: { type: 'judge' },
          }),
          suiteRun('signalbox, built-in check', {
            spec: {},
            cases,
            judge: { type: 'min_length', params: { min: 5 } },
          }),
        ],
      },
    ];
  },
};
