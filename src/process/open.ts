import type { Binding } from './binding.ts';
import { openForkedOneshot } from './fork/forked.ts';
import { openEndpoint } from './http.ts';
import { acquireWatcher } from './launch/process-groups.ts';
import { onlyIf, openOneshot } from './oneshot.ts';
import { type Pool, withPool } from './pool.ts';
import { type ProcessContext, startProcess } from './process.ts';
import { openServer, type ServerTransport } from './server/server.ts';
import { openSpares, type SpareLimits } from './spare/spares.ts';
import type { Handshake, Transport } from './transport.ts';

/** Opens the transport of a binding behind its pool. Starts no process. Only servers use the handshake. */
export function openTransport(
  binding: Binding,
  context: ProcessContext,
  pool: Pool,
  handshake?: Handshake,
): Transport {
  return withPool(openUnpooled(binding, context, handshake), binding, pool, context);
}

export function openUnpooled(binding: Binding, context: ProcessContext, handshake?: Handshake): Transport {
  if (binding.endpoint !== null) return openEndpoint(binding, binding.endpoint);
  return withWatcher(openBindingTransport(binding, context, handshake), binding, context);
}

function openBindingTransport(
  binding: Binding,
  context: ProcessContext,
  handshake: Handshake | undefined,
): Transport {
  if (binding.mode === 'oneshot') {
    if (binding.isForked) return openForkedOneshot(binding, context);
    return binding.spares > 0 ? openWarmOneshot(binding, context) : openOneshot(binding, context);
  }
  return balanceLoad(
    Array.from({ length: binding.instances }, () => openServer(binding, context, handshake)),
  );
}

function withWatcher(transport: Transport, { name }: Binding, { emit }: ProcessContext): Transport {
  const releaseWatcher = acquireWatcher((reason) => {
    const message = `its processes would keep running if this one were killed: there is no watcher (${reason})`;
    emit({ type: 'note', name, level: 'warn', message });
  });
  return {
    ...transport,
    close: async () => {
      await transport.close();
      await releaseWatcher();
    },
  };
}

/** A call without a waiting process, or with its own environment, starts one. */
export function openWarmOneshot(binding: Binding, context: ProcessContext, limits?: SpareLimits): Transport {
  const spares = openSpares(binding, context, limits);
  const oneshot = openOneshot(binding, context, async (forCall, input, { over, requireStart }) => {
    const spare = forCall.env === binding.env ? await spares.serve(input, requireStart) : undefined;
    if (spare === undefined) over.throwIfAborted();
    return spare ?? (await startProcess(forCall, onlyIf(requireStart, context), input));
  });
  return {
    ...oneshot,
    exchange: (message, signal) => oneshot.exchange(message, signal).finally(spares.fill),
    warm: spares.fill,
    close: async () => {
      await Promise.all([oneshot.close(), spares.close()]);
    },
  };
}

/** Sends each exchange to the process with the fewest in flight; those with an open circuit come last. */
export function balanceLoad(servers: readonly ServerTransport[]): Transport {
  const [first] = servers;
  if (first === undefined) throw new TypeError('an entry has at least one process');
  if (servers.length === 1) return first;
  return {
    exchange: (message, signal) => leastLoaded(servers, first).exchange(message, signal),
    ask: (message, asked) => leastLoaded(servers, first).ask?.(message, asked) === true,
    // Any process may answer next, so each restart counts.
    startCount: () => servers.reduce((sum, { startCount }) => sum + (startCount?.() ?? 0), 0),
    // Notifications go to the first process, so that they keep their order.
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
