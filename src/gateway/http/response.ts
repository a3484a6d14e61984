import type { ClientReply } from '../call/client-call.ts';

/** A reply for whoever asked. */
export function toResponse({ status, headers, body }: ClientReply): Response {
  return new Response(body instanceof Uint8Array ? new Uint8Array(body) : body, { status, headers });
}
