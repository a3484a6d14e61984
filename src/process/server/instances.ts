import type { Transport } from '../transport.ts';
import type { ServerTransport } from './server.ts';

/**
 * Several processes of one entry: each exchange goes to the one with the fewest in flight, the first of equals. One
 * whose circuit refuses is asked only when all refuse.
 */
export function balanceLoad(servers: readonly ServerTransport[]): Transport {
  const [first] = servers;
  if (first === undefined) throw new TypeError('an entry has at least one process');
  if (servers.length === 1) return first;
  return {
    exchange: (message, signal) => leastLoaded(servers, first).exchange(message, signal),
    // Any of them may answer next, so a restart of one counts for all.
    startCount: () => servers.reduce((sum, { startCount }) => sum + (startCount?.() ?? 0), 0),
    // Notifications go to the first process, which so gets all of them, in order.
    ...(first.notify && { notify: first.notify }),
    warm: () => {
      for (const server of servers) server.warm();
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

function leastLoaded(servers: readonly ServerTransport[], first: ServerTransport): ServerTransport {
  let best: ServerTransport | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const server of servers) {
    if (least === 0) break;
    if (server.isRefusing) continue;
    const { load } = server;
    if (load >= least) continue;
    best = server;
    least = load;
  }
  return best ?? first;
}
