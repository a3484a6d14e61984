import { inTurnOf } from '../../base/time/turns.ts';
import type { Caller } from '../ports.ts';
import type { IncomingCall } from '../stages.ts';
import { isAnthropicEndpoint } from '../wire/endpoints.ts';
import { RefusedCall } from '../wire/refusal.ts';
import { CallAccount } from './call-account.ts';
import type { ClientCall, ClientReply } from './client-call.ts';
import { presentedKey } from './credential.ts';
import { answerGuarded } from './guarded-call.ts';
import { decodeRequest } from './peek.ts';
import { relay } from './relay.ts';
import { toRefusal, toRefusalReply } from './reply.ts';
import type { GatewayServices } from './services.ts';

/** Answers one call of a client, from its key to its row in the audit. Never rejects. */
export async function answerCall(client: ClientCall, services: GatewayServices): Promise<ClientReply> {
  const account = new CallAccount(services, client.endpoint);
  try {
    return withRequestId(await answer({ client, services, account }), client, account.id);
  } catch (thrown) {
    return withRequestId(await refuse({ client, services, account }, thrown), client, account.id);
  }
}

async function answer(call: IncomingCall): Promise<ClientReply> {
  const { client, services, account } = call;
  const { config, admission, audit } = services;
  await audit?.ensureWritable();
  const caller = await admission.authenticate(presentedKey(client.headers, config.passThrough));
  account.caller = caller;
  return await inTurnOf(caller.keyId ?? '', async () => await answerCaller(call, caller));
}

/** Its hooks take turns with those of other keys where processes are few. */
async function answerCaller(call: IncomingCall, caller: Caller): Promise<ClientReply> {
  const { client, services, account } = call;
  const { config } = services;
  const text = decodeRequest(await client.readBody(config.limits.bodyBytes));
  account.request = text;
  const hooks = services.hooksOf(caller);
  const isRead = hooks.hears('before_call') || hooks.hears('after_call') || services.tools !== undefined;
  return isRead
    ? await answerGuarded({ ...call, caller, hooks }, text)
    : await relay({ ...call, caller }, text);
}

async function refuse({ client, services, account }: IncomingCall, thrown: unknown): Promise<ClientReply> {
  const codec = services.codecs[client.endpoint];
  const refusal = toRefusal(thrown);
  // Whoever runs the gateway learns why; the client does not.
  if (refusal.status === 500) services.report(thrown);
  else if (refusal.code === 'store_failed')
    services.report(thrown instanceof RefusedCall ? thrown.cause : thrown);
  const reply = toRefusalReply(codec, refusal);
  const outcome = client.signal.aborted ? 'aborted' : refusal.status >= 500 ? 'failed' : 'refused';
  try {
    await account.end({ status: refusal.status, outcome, answer: String(reply.body) });
    return reply;
  } catch (failed) {
    return toRefusalReply(codec, toRefusal(failed));
  }
}

/** Every answer has an id by which it can be found, the upstream's where it has one. */
function withRequestId(reply: ClientReply, { endpoint }: ClientCall, id: string): ClientReply {
  const name = isAnthropicEndpoint(endpoint) ? 'request-id' : 'x-request-id';
  if (reply.headers[name] !== undefined) return reply;
  return { ...reply, headers: { ...reply.headers, [name]: id } };
}
