import { fileURLToPath } from 'node:url';
import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench, Line } from '../run/line.ts';
import { type TelemetryCall, telemetryCall } from '../ways/telemetry-call.ts';

const noop = fileURLToPath(new URL('../ways/noop-server.ts', import.meta.url));

/** The processor time that telemetry adds to a call, in the process of the host. */
export const telemetry: Bench = {
  name: 'telemetry',
  about: 'processor time of a call with telemetry, against none; spans go to a collector in its own process',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const node = { command: process.execPath, args: [noop] };
    return [
      serverLine('telemetry/node', 'a server tool and one hook in Node', node),
      serverLine('telemetry/native', 'a server tool and one hook in C', { command: native['echo-server'] }),
      {
        id: 'telemetry/oneshot',
        title: 'a one-shot tool, 8 at once: processor time of a call',
        unit: 'ms',
        ...{ count: 200, warmUp: 3_000 },
        ways: waysOf({ spec: { tools: { bench: toolOf({ command: native.trivial }) } }, atOnce: 8 }),
      },
    ];
  },
};

/** The hook is asked before and after the tool, so that a call has three spans. */
function serverLine(id: string, title: string, program: object): Line {
  const server = { ...program, runtime: 'server', concurrency: 64 };
  const filter = { ...server, hook: 'tool', phases: ['before_execution', 'after_execution'], warm: true };
  const spec = { concurrency: 128, tools: { bench: toolOf(server) }, hooks: { filter } };
  return {
    ...{ id, title: `${title}, 64 in flight: processor time of a call`, unit: 'ms' },
    // A round that is filled by time would begin before Node has compiled the code.
    ...{ count: 4_000, warmUp: 30_000 },
    ways: waysOf({ spec, atOnce: 64 }),
  };
}

function waysOf(call: TelemetryCall): Line['ways'] {
  const off = { traces: false, metrics: false } as const;
  return [
    telemetryCall('no telemetry', call),
    telemetryCall('both off', { ...call, telemetry: off }),
    telemetryCall('metrics', { ...call, telemetry: { ...off, metrics: true } }),
    telemetryCall('traces, none sampled', { ...call, telemetry: { ...off, traces: { sample: 0 } } }),
    telemetryCall('traces, all sampled', { ...call, telemetry: { ...off, traces: { sample: 1 } } }),
    telemetryCall('both', { ...call, telemetry: { traces: { sample: 1 }, metrics: true } }),
  ];
}

function toolOf(exec: object): object {
  return { description: 'does nothing', exec };
}
