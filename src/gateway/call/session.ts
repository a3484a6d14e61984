import type { Caller } from '../ports.ts';
import type { ClientHeaders } from '../upstream/headers.ts';
import type { ClientCall } from './client-call.ts';

/**
 * `request.metadata` of hooks: the endpoint, the caller, and the session that the client names in a header. A session
 * belongs to its key, so that no key meets what another's session has.
 */
export function metadataOf(
  { endpoint, headers }: ClientCall,
  { keyId, name }: Caller,
): Readonly<Record<string, unknown>> {
  const session = sessionIn(headers);
  return {
    endpoint,
    ...(keyId !== null && { caller: name }),
    ...(session !== undefined && { session_id: keyId === null ? session : `${keyId}:${session}` }),
  };
}

/** The session that a header names: ours, or that of an agent. */
function sessionIn(headers: ClientHeaders): string | undefined {
  const own = headers['x-session-id'];
  if (isSession(own)) return own;
  for (const name in headers) {
    if (!agentHeader.test(name)) continue;
    const value = headers[name];
    if (isSession(value)) return value;
  }
  return undefined;
}

/** Agents name it with a prefix of theirs, or without one. */
const agentHeader = /^(?:[a-z-]+-)?(?:session[-_]id|conversation[-_]id)$/;

function isSession(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,128}$/.test(value);
}
