import { once } from '../../base/time/async.ts';
import { requireListen } from '../../config/listen.ts';
import type { Fetch } from '../../gateway/http/guarded-fetch.ts';
import type { Gateway, GatewayOptions } from './document.ts';
import type { GatewayContext, OpenGateway } from './open-gateway.ts';

export interface LazyGateway extends Gateway {
  guardFetch(inner: Fetch): Fetch;
  close(): Promise<void>;
}

/** `context` throws RUNTIME_CLOSED. Throws USAGE for an invalid address. */
export function lazyGateway(
  context: () => Omit<GatewayContext, 'address' | 'print' | 'processes'>,
  { listen, print, processes = 1 }: GatewayOptions,
): LazyGateway {
  const given = listen === undefined ? undefined : requireListen(listen, 8787);
  let hasLeft = false;
  const opening = once(async (): Promise<OpenGateway> => {
    const parts = context();
    const { openGateway } = await import('./open-gateway.ts');
    const opened = await openGateway({
      ...parts,
      print,
      processes,
      address: given ?? parts.config.gateway.listen,
    });
    if (hasLeft) opened.leave();
    return opened;
  });
  return {
    fetch: async (request, bindings) => await (await opening.open()).fetch(request, bindings),
    guardFetch: (inner) => {
      const guarded = once(async () => (await opening.open()).guardFetch(inner));
      return async (input, init) => await (await guarded.open())(input, init);
    },
    describe: async () => await (await opening.open()).describe(),
    leave: () => {
      hasLeft = true;
      void opening.opened().then((opened) => opened?.leave());
    },
    close: async () => await (await opening.opened())?.close(),
  };
}
