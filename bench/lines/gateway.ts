import { availableParallelism } from 'node:os';
import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench, Line } from '../run/line.ts';
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

/** What further processes of one gateway add. The client and the upstream use the same cores. */
export const gatewayCores: Bench = {
  name: 'gateway-cores',
  about: 'a gateway with a process for each core that this process may use, against one process',
  isNamedOnly: true,
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const filter = { command: native['echo-server'], hook: 'provider', runtime: 'server', warm: true };
    return [
      { title: 'no hooks', spec: {} },
      { title: 'one server filter', spec: { hooks: { filter } } },
    ].map(({ title, spec }, index): Line => {
      const call = { atOnce: 64, spec: { ...spec, state_store: { type: 'sqlite' } } };
      return {
        ...{ id: `gateway-cores/${index}`, title: `calls, 64 at once, ${title}`, unit: '/s' },
        ways: [
          gatewayCall(`one process, ${title}`, call),
          gatewayCall(`one for each core, ${title}`, { ...call, processes: availableParallelism() }),
        ],
      };
    });
  },
};
