import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench } from '../run/line.ts';
import { gatewayCall } from '../ways/gateway-call.ts';

/** The latency that the gateway adds to a call. Client, upstream and gateway are processes on this machine. */
export const gateway: Bench = {
  name: 'gateway',
  about: 'a chat completion through the gateway, against the same call made direct',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const filter = { command: native['echo-server'], hook: 'provider', runtime: 'server', warm: true };
    return [
      {
        id: 'gateway/call',
        title: 'a call, one after another',
        unit: 'ms',
        ways: [
          gatewayCall('direct', { atOnce: 1 }),
          gatewayCall('signalbox, no hooks', { atOnce: 1, spec: {} }),
          gatewayCall('signalbox, one server filter', { atOnce: 1, spec: { hooks: { filter } } }),
        ],
      },
      {
        id: 'gateway/many',
        title: 'calls, 32 at once',
        unit: '/s',
        ways: [
          gatewayCall('direct', { atOnce: 32 }),
          gatewayCall('signalbox, no hooks', { atOnce: 32, spec: {} }),
          gatewayCall('signalbox, one server filter', { atOnce: 32, spec: { hooks: { filter } } }),
        ],
      },
    ];
  },
};
