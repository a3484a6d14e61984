import { isLoopbackName } from '../../text/loopback-name.ts';
import type { GatewayServices } from '../call/services.ts';
import type { ClientHeaders } from '../upstream/headers.ts';
import { RefusedCall } from '../wire/refusal.ts';

/**
 * A gateway without keys is for programs of this machine. A page in a browser reaches it too, at its address or under a name
 * of its own that leads here; it is known by its `origin`, or by that name. Throws RefusedCall (403).
 */
export function requireTrustedOrigin(
  headers: ClientHeaders,
  { requiresKeys }: Pick<GatewayServices, 'requiresKeys'>,
): void {
  if (requiresKeys) return;
  if (headers['origin'] !== undefined)
    throw untrusted('A page in a browser cannot call a gateway without keys.');
  const { host } = headers;
  if (typeof host === 'string' && !isLoopbackName(host))
    throw untrusted('A gateway without keys is called by the address of this machine only.');
}

function untrusted(message: string): RefusedCall {
  return new RefusedCall({ status: 403, code: 'untrusted_origin', message, isRetryable: false });
}
