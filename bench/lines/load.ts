import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench, Line } from '../run/line.ts';
import { bareSpawn } from '../ways/bare-spawn.ts';
import { loopDelay } from '../ways/loop-delay.ts';
import { toolCall } from '../ways/tool-call.ts';
import { makeFolder } from '../workspace.ts';

const args = { city: 'Oslo' };
const request = `${JSON.stringify({ args })}\n`;
const perSecond = 500;

/** The event-loop delay of the host under load. */
export const delay: Bench = {
  name: 'delay',
  about: 'event-loop delay, 99th percentile, at 500 one-shot calls a second; an idle loop comes first',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const command = [native.trivial];
    const spec = {
      concurrency: 8,
      tools: { bench: { description: 'answers', exec: { command: native.trivial } } },
    };
    return [
      {
        id: `delay/oneshot-${perSecond}`,
        title: `event-loop delay p99, ${perSecond} one-shot calls a second`,
        unit: 'ms',
        count: 2 * perSecond,
        warmUp: perSecond,
        ways: [
          loopDelay('idle', { perSecond, load: { kind: 'idle' } }),
          loopDelay('node:child_process', { perSecond, load: { kind: 'spawn', command, request } }),
          loopDelay('signalbox', { perSecond, load: { kind: 'tool', spec, args } }),
        ],
      },
    ];
  },
};

/** 64 MiB of log lines, and of lines with one letter. */
const floods = [
  {
    name: 'lines',
    title: 'lines of 64 bytes',
    text: 'a line of a log that nobody reads, as long as lines of logs are',
  },
  { name: 'short', title: 'lines of one letter', text: 'y' },
];

/** A tool that writes 64 MiB to stderr before it replies. */
export const stderr: Bench = {
  name: 'stderr',
  about: 'a one-shot tool that floods stderr with 64 MiB',
  lines: async () =>
    floods.map(({ name, title, text }): Line => {
      const source = `#!/bin/sh\nyes '${text}' | head -c 67108864 >&2\nprintf '{"result": true}\\n'\n`;
      const command = `${makeFolder({ flood: source }).path}/flood`;
      const spec = { tools: { bench: { description: 'floods', exec: { command } } } };
      return {
        id: `stderr/${name}`,
        title: `64 MiB on stderr before the answer, ${title}`,
        unit: 's',
        count: 1,
        ways: [
          bareSpawn('node:child_process, drained', { command: [command], request, atOnce: 1 }),
          toolCall('signalbox', { spec, args, atOnce: 1 }),
        ],
      };
    }),
};
