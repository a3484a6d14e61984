import { RuntimeError } from '../../base/errors.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ReadCall } from '../account.ts';
import { uncountable } from '../keys/refusals.ts';
import type { ClientReply } from '../ports.ts';
import type { EndpointCodec, Substitute } from '../wire/codec.ts';
import { isSaidAsAnswer, type Refusal, RefusedCall, refusal } from '../wire/refusal.ts';

const json = 'application/json';

export function toRefusalReply(codec: Pick<EndpointCodec, 'refusal'>, refusal: Refusal): ClientReply {
  return {
    status: refusal.status,
    headers: { 'content-type': json, ...refusalHeaders(refusal) },
    body: codec.refusal(refusal),
  };
}

function refusalHeaders({ isRetryable, retryAfter, verdict }: Refusal): Record<string, string> {
  return {
    ...(!isRetryable && { 'x-should-retry': 'false' }),
    ...(retryAfter !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(verdict !== undefined && verdictHeaders(verdict)),
  };
}

/** Names that a header cannot carry are percent-encoded. */
function verdictHeaders({ verdict, hook, phase }: NonNullable<Refusal['verdict']>): Record<string, string> {
  return {
    'x-signalbox-verdict': verdict,
    'x-signalbox-phase': phase,
    ...(hook !== null && { 'x-signalbox-hook': headerText(hook) }),
  };
}

function headerText(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

/** Converts any error to a refusal. Internal errors reveal no details to the client. */
export function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof RefusedCall) return thrown.refusal;
  if (thrown instanceof RuntimeError && thrown.code === 'STORE_FAILED') return uncountable(thrown).refusal;
  return refusal(500, 'internal_error', 'The gateway failed.');
}

/** Throws RefusedCall if the config asks for errors, if it is no denial, or if the endpoint has no text responses. */
export async function toDenialReply(call: ReadCall, refusal: Refusal): Promise<ClientReply> {
  const { services, client } = call;
  const isAnswer = services.config.onDeny === 'answer' && isSaidAsAnswer(refusal);
  if (!isAnswer || services.codecs[client.endpoint].substitute === undefined) throw new RefusedCall(refusal);
  const headers = { 'x-should-retry': 'false', ...(refusal.verdict && verdictHeaders(refusal.verdict)) };
  return await standIn(call, { text: refusal.message, end: 'refused' }, headers);
}

/** Throws RefusedCall if the endpoint has no text responses. */
export async function toStandInReply(
  call: ReadCall,
  { substitute, by: { verdict, hook } }: { readonly substitute: Substitute; readonly by: Decision },
  phase: string,
): Promise<ClientReply> {
  return await standIn(call, substitute, verdictHeaders({ verdict, hook, phase }));
}

async function standIn(
  call: ReadCall,
  substitute: Substitute,
  headers: Readonly<Record<string, string>>,
): Promise<ClientReply> {
  const { services, client, request } = call;
  const body = services.codecs[client.endpoint].substitute?.(substitute, request.model);
  if (body === undefined) throw new RefusedCall(noTexts);
  return await giveAsAsked(call, body, headers);
}

export async function giveAsAsked(
  { services, client, request, account }: ReadCall,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ClientReply> {
  const { stream } = services.codecs[client.endpoint];
  const writer = request.isStream ? stream?.writer(request) : undefined;
  const text = writer === undefined ? body : writer.finish(body);
  await account.end({ status: 200, outcome: 'allowed', answer: text });
  const form = writer === undefined ? { 'content-type': 'application/json' } : streamHeaders;
  return { status: 200, headers: { ...form, ...headers }, body: text };
}

const noTexts: Refusal = refusal(
  400,
  'content_filter',
  'A hook answered with a text, but this endpoint returns no texts.',
);

/** `x-accel-buffering` tells nginx not to buffer the stream. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const;
