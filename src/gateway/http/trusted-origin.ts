import { isLoopbackName } from '../../base/text/loopback-name.ts';
import type { GatewayServices } from '../call/services.ts';
import type { ClientHeaders } from '../upstream/headers.ts';
import type { Refusal } from '../wire/refusal.ts';

/**
 * A gateway without keys is for programs of this machine. A page in a browser reaches it too, at its address or under a name
 * of its own that leads here; it is known by its `origin`, or by that name. Where keys are required, proxies may give any name.
 */
export function refuseOrigin(
  { origin, host }: ClientHeaders,
  { requiresKeys }: Pick<GatewayServices, 'requiresKeys'>,
): Refusal | undefined {
  if (requiresKeys) return undefined;
  if (origin !== undefined) return untrusted('A page in a browser cannot call a gateway without keys.');
  if (typeof host !== 'string' || isLoopbackName(host)) return undefined;
  return untrusted('A gateway without keys is called by the address of this machine only.');
}

function untrusted(message: string): Refusal {
  return { status: 403, code: 'untrusted_origin', message, isRetryable: false };
}
