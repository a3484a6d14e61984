import { buildNative, withoutCompiler } from '../native/build.ts';
import type { Bench, Line, Way } from '../run/line.ts';
import { hookFire } from '../ways/hook-fire.ts';
import { makeFolder } from '../workspace.ts';

const slow = '#!/bin/sh\nread -r request\nsleep 0.03\necho \'{"allow": true}\'\n';
const before = { hook: 'tool', phases: ['before_execution'] };

export const chains: Bench = {
  name: 'chains',
  about: 'filters of one phase that all allow: in order, and asked at once because they do not modify',
  lines: async () => {
    const native = buildNative();
    if (native === undefined) return withoutCompiler;
    const command = `${makeFolder({ slow }).path}/slow`;
    const server = { command: native['echo-server'], runtime: 'server', warm: true };
    return [
      {
        id: 'chains/slow-8',
        title: '8 one-shot filters that sleep for 30 ms each',
        unit: 'ms',
        count: 2,
        warmUp: 1,
        ways: [
          chain('one filter', 1, { command }),
          chain('8 in order', 8, { command }),
          chain('8 that do not modify', 8, { command, modifies: false }),
        ],
      },
      ...[1, 64].map(
        (atOnce): Line => ({
          id: `chains/server-8x${atOnce}`,
          title: `8 server filters, ${atOnce} decisions at once`,
          unit: '/s',
          ways: [
            chain('one filter', 1, server, atOnce),
            chain('8 in order', 8, server, atOnce),
            chain('8 that do not modify', 8, { ...server, modifies: false }, atOnce),
          ],
        }),
      ),
    ];
  },
};

function chain(name: string, length: number, filter: object, atOnce = 1): Way {
  const hooks = Array.from({ length }, (_, index) => [`filter${index}`, { ...before, ...filter }]);
  return hookFire(name, { spec: { concurrency: 16 * atOnce, hooks: Object.fromEntries(hooks) }, atOnce });
}
