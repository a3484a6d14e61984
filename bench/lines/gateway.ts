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
    ].flatMap(({ title, spec }, index): Line[] => {
      const waysOf = (of: string, more: { readonly isOfCpu?: boolean }) => {
        const call = { atOnce: 64, spec: { ...spec, state_store: { type: 'sqlite' } }, ...more };
        return [
          gatewayCall(`${of}one process, ${title}`, call),
          gatewayCall(`${of}one for each core, ${title}`, { ...call, processes: availableParallelism() }),
        ];
      };
      const name = `calls, 64 at once, ${title}`;
      const [id, count] = [`gateway-cores/${index}`, 2_000];
      return [
        { id, title: name, unit: '/s', ways: waysOf('', {}) },
        // Other users of the cores do not change it, so it shows what further processes add on more cores.
        {
          ...{ id: `${id}-cpu`, title: `${name}, CPU of the gateway for a call`, unit: 'ms' },
          ...{ count, warmUp: 2 * count, ways: waysOf('CPU ms, ', { isOfCpu: true }) },
        },
      ];
    });
  },
};
