import { RuntimeError } from '../../base/errors.ts';
import { uncountable } from '../keys/refusals.ts';
import type { EndpointCodec } from '../wire/codec.ts';
import { type Refusal, RefusedCall } from '../wire/refusal.ts';
import type { ClientReply } from './client-call.ts';

const json = 'application/json';

/** A refusal in the form of its endpoint. */
export function toRefusalReply(codec: Pick<EndpointCodec, 'refusal'>, refusal: Refusal): ClientReply {
  return {
    status: refusal.status,
    headers: { 'content-type': json, ...refusalHeaders(refusal) },
    body: codec.refusal(refusal),
  };
}

/** What programs are told of a refusal beside its body. */
function refusalHeaders({ isRetryable, retryAfter, verdict }: Refusal): Record<string, string> {
  return {
    ...(!isRetryable && { 'x-should-retry': 'false' }),
    ...(retryAfter !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(verdict !== undefined && verdictHeaders(verdict)),
  };
}

/** Who decided on a call; a name that a header cannot carry is percent-encoded. */
export function verdictHeaders({
  verdict,
  hook,
  phase,
}: NonNullable<Refusal['verdict']>): Record<string, string> {
  return {
    'x-signalbox-verdict': verdict,
    'x-signalbox-phase': phase,
    ...(hook !== null && { 'x-signalbox-hook': headerText(hook) }),
  };
}

function headerText(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

/** Whatever went wrong as what a client is told; of a fault of our own nothing but that. */
export function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof RefusedCall) return thrown.refusal;
  if (thrown instanceof RuntimeError && thrown.code === 'STORE_FAILED') return uncountable(thrown).refusal;
  return { status: 500, code: 'internal_error', message: 'The gateway has failed.', isRetryable: false };
}
