import type { Binding } from '../binding/binding.ts';
import { holdWatcher } from './groups.ts';
import { openOneshot } from './oneshot.ts';
import { type Pool, pooled } from './pool.ts';
import type { ProcessContext } from './process.ts';
import { openServer } from './server/server.ts';
import type { Greeting, Transport } from './transport.ts';

/** The transport of a binding, behind its pool. Starts nothing. A greeting is for servers. */
export function openTransport(
  binding: Binding,
  context: ProcessContext,
  pool: Pool,
  greeting?: Greeting,
): Transport {
  return pooled(openAlone(binding, context, greeting), binding, pool);
}

/** The same, which waits for no slot. */
export function openAlone(binding: Binding, context: ProcessContext, greeting?: Greeting): Transport {
  return watched(openUnwatched(binding, context, greeting), binding, context);
}

function openUnwatched(binding: Binding, context: ProcessContext, greeting: Greeting | undefined): Transport {
  if (binding.mode === 'oneshot') return openOneshot(binding, context);
  return spread(Array.from({ length: binding.instances }, () => openServer(binding, context, greeting)));
}

/** The transport, with the watcher of processes kept until it is closed. */
function watched(transport: Transport, { name }: Binding, { emit }: ProcessContext): Transport {
  const drop = holdWatcher((reason) => {
    const message = `its processes would outlive a kill of this one: there is no watcher (${reason})`;
    emit({ type: 'note', name, level: 'warn', message });
  });
  return {
    ...transport,
    close: async () => {
      await transport.close();
      await drop();
    },
  };
}

/** Several processes of one entry: each exchange goes to the one with the fewest in flight. */
function spread(transports: readonly Transport[]): Transport {
  const [first] = transports;
  if (transports.length === 1 && first !== undefined) return first;
  const load = new Map(transports.map((transport) => [transport, 0]));
  const count = (transport: Transport, change: number) => {
    load.set(transport, (load.get(transport) ?? 0) + change);
  };
  return {
    exchange: async (message, signal) => {
      const idlest = transports.reduce((best, next) =>
        (load.get(next) ?? 0) < (load.get(best) ?? 0) ? next : best,
      );
      count(idlest, 1);
      try {
        return await idlest.exchange(message, signal);
      } finally {
        count(idlest, -1);
      }
    },
    // Any of them may answer next, so a new life of one is news of all.
    lives: () => transports.reduce((sum, { lives }) => sum + (lives?.() ?? 0), 0),
    // What is only told goes to one of them, which so hears of everything, and in order.
    ...(first?.notify && { notify: first.notify }),
    warm: () => {
      for (const transport of transports) transport.warm();
    },
    close: async () => {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}
