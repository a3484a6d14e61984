import type { ProviderConfig } from '../../config/config.ts';
import type { EndpointCodec, EndpointName } from '../wire/codec.ts';
import { RefusedCall } from '../wire/refusal.ts';
import type { Upstream } from './upstream.ts';

/** A scripted provider that answers at every endpoint, within this process. */
export function openMockUpstream(
  provider: ProviderConfig,
  codecs: Readonly<Record<EndpointName, EndpointCodec>>,
): Upstream {
  void codecs;
  return {
    send: async () => {
      const message = `Provider "${provider.id}" is scripted, and not served yet.`;
      throw new RefusedCall({ status: 501, code: 'not_implemented', message, isRetryable: false });
    },
    close: async () => {},
  };
}
