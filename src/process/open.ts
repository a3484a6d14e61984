import type { Binding } from './binding.ts';
import { openForkedOneshot } from './fork/forked.ts';
import { openEndpoint } from './http.ts';
import { acquireWatcher } from './launch/process-groups.ts';
import { openOneshot } from './oneshot.ts';
import { type Pool, withPool } from './pool.ts';
import type { ProcessContext } from './process.ts';
import { balanceLoad } from './server/instances.ts';
import { openServer } from './server/server.ts';
import { openWarmOneshot } from './spare/warm.ts';
import type { Handshake, Transport } from './transport.ts';

/** The transport of a binding, behind its pool. Starts no process. Only servers use the handshake. */
export function openTransport(
  binding: Binding,
  context: ProcessContext,
  pool: Pool,
  handshake?: Handshake,
): Transport {
  return withPool(openUnpooled(binding, context, handshake), binding, pool, context.inFlight);
}

/** The transport of a binding without a pool: exchanges wait for no slot. */
export function openUnpooled(binding: Binding, context: ProcessContext, handshake?: Handshake): Transport {
  // Nothing of an endpoint could outlive this process.
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

/** The transport, with the watcher of processes kept until it is closed. */
function withWatcher(transport: Transport, { name }: Binding, { emit }: ProcessContext): Transport {
  const releaseWatcher = acquireWatcher((reason) => {
    const message = `its processes would outlive a kill of this one: there is no watcher (${reason})`;
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
