import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench, Line } from '../run/line.ts';
import { bareServer } from '../ways/bare-server.ts';
import { toolCall } from '../ways/tool-call.ts';

const payloads = [
  { name: '100B', title: '100 B', bytes: 100, inFlight: [1, 8, 64, 512] },
  { name: '10KiB', title: '10 KiB', bytes: 10_240, inFlight: [1, 8, 64, 512] },
  // 512 of these would keep half a gigabyte in flight.
  { name: '1MiB', title: '1 MiB', bytes: 1_048_576, inFlight: [1, 8, 64] },
];
/**
 * Few enough to finish in seconds. With one in flight, the scheduler of a busy machine affects the result more than the
 * program does.
 */
const short = ['64x100B', '64x10KiB'];

/** Requests to an echo server in C, sent as fast as it replies. */
export const server: Bench = {
  name: 'server',
  about: 'a JSON-RPC server in C, 1 to 512 requests in flight, against a bare pipelined loop',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    return payloads.flatMap(({ name, title, bytes, inFlight }) =>
      inFlight.map((atOnce): Line => {
        const args = { city: 'Oslo', text: textOf(bytes) };
        const command = native['echo-server'];
        const spec = { concurrency: atOnce, tools: { bench: echoTool(command, atOnce) } };
        return {
          id: `server/${atOnce}x${name}`,
          title: `${atOnce} in flight, ${title}`,
          unit: '/s',
          short: short.includes(`${atOnce}x${name}`),
          ways: [
            bareServer('bare pipelined loop', { command: [command], params: { args }, atOnce }),
            toolCall('signalbox', { spec, args, atOnce }),
            ...(bytes > 100
              ? [toolCall('signalbox, result unread', { spec, args, atOnce, unread: true }, { aside: true })]
              : []),
          ],
        };
      }),
    );
  },
};

/** The same, with a server filter on each call. */
export const filtered: Bench = {
  name: 'filtered',
  about: 'server calls with one warm server filter on each, against a bare loop without one',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const command = native['echo-server'];
    return [1, 64].map((atOnce): Line => {
      const args = { city: 'Oslo', text: textOf(100) };
      const filter = { command, hook: 'tool', phases: ['before_execution'], runtime: 'server', warm: true };
      const spec = { concurrency: 2 * atOnce, tools: { bench: echoTool(command, atOnce) } };
      return {
        id: `filtered/${atOnce}x100B`,
        title: `${atOnce} in flight, 100 B, one filter`,
        unit: '/s',
        short: atOnce === 64,
        ways: [
          bareServer('bare pipelined loop, no filter', { command: [command], params: { args }, atOnce }),
          toolCall('signalbox, no filter', { spec, args, atOnce }, { aside: true }),
          toolCall('signalbox, one filter', { spec: { ...spec, hooks: { filter } }, args, atOnce }),
        ],
      };
    });
  },
};

function echoTool(command: string, concurrency: number): object {
  const exec = { command, runtime: 'server', concurrency, max_output_bytes: 200_000_000 };
  return { description: 'gives its arguments back', exec };
}

/** Prose with occasional line breaks, similar to the input of real tools. */
function textOf(bytes: number): string {
  const line = 'It was the best of times, it was the worst of times, it was the age of wisdom.\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, Math.max(0, bytes - 30));
}
