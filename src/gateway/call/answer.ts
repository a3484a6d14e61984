import { isTextTooDeep } from '../../base/json/depth.ts';
import { scanMembers } from '../../base/json/scan.ts';
import { inTurnOf } from '../../base/time/turns.ts';
import type { Decision } from '../../contract/hook.ts';
import { inTrace, readWithin } from '../../contract/operation.ts';
import { readTrace } from '../../contract/trace.ts';
import { CallAccount, type CallOfCaller, type ReadCall } from '../account.ts';
import {
  judgeAnswer,
  judgeContextOf,
  judgeOf,
  judgeResults,
  type PassedRequest,
  runBeforeCall,
} from '../judge/provider-hooks.ts';
import { presentedKey } from '../keys/admission.ts';
import { estimateDearest } from '../keys/estimate.ts';
import type { ClientCall, ClientReply, GatewayServices } from '../ports.ts';
import {
  candidatesOf,
  isAnthropicEndpoint,
  mediaTypeOf,
  type OfferedModel,
  returnedHeaders,
  type UpstreamAnswer,
} from '../upstream/upstream.ts';
import type { WireAnswer, WireRequest } from '../wire/codec.ts';
import { decodeUtf8, Place, tryOpen } from '../wire/place.ts';
import { invalidAnswer, invalidRequest, RefusedCall } from '../wire/refusal.ts';
import { answerInTurn, askInTurn, readWhole } from './ask.ts';
import { giveAsAsked, toDenialReply, toRefusal, toRefusalReply, toStandInReply } from './reply.ts';
import { judgeStream, relayStream } from './stream.ts';
import { usageIn } from './usage.ts';

/** Answers one client call, from admission to the last byte of the response and the audit row. Never rejects. */
export async function answerCall(client: ClientCall, services: GatewayServices): Promise<ClientReply> {
  const { traceparent, tracestate } = client.headers;
  return await inTrace(readTrace(traceparent, tracestate), async () => {
    const account = new CallAccount(services, client.endpoint);
    const { operation } = account;
    if (operation === undefined) return await answerFor(client, services, account);
    const reply = await operation.run(() => answerFor(client, services, account));
    // The HTTP server reads a stream outside of the operation.
    const { body } = reply;
    // The account ends the operation.
    const read = { onPart: () => {}, onEnd: () => {} };
    return body instanceof ReadableStream ? { ...reply, body: readWithin(operation, body, read) } : reply;
  });
}

async function answerFor(
  client: ClientCall,
  services: GatewayServices,
  account: CallAccount,
): Promise<ClientReply> {
  const { config, rules, tools } = services;
  const codec = services.codecs[client.endpoint];
  const answer = async (): Promise<ClientReply> => {
    // Admission: the audit must be writable and the key valid.
    await services.audit?.ensureWritable();
    const caller = await services.admission.authenticate(presentedKey(client.headers, config.passThrough));
    account.caller = caller;
    // If hook processes are scarce, keys take turns to use them.
    return await inTurnOf(caller.keyId ?? '', async () => {
      // The request: it is parsed only if hooks read it.
      const text = decodeUtf8(await client.readBody(config.limits.bodyBytes));
      if (text === undefined) throw invalidRequest('The body is not UTF-8.');
      account.request = text;
      const hooks = services.hooksOf(caller);
      const isHeard = hooks.hears('before_call') || hooks.hears('after_call');
      const isRead = isHeard || tools !== undefined || services.keepCall !== undefined;
      if (!isRead) return await relay({ client, services, account, caller }, text);
      const request = codec.readRequest(text, rules, client.headers);
      const call = { client, services, account, caller, hooks, request };

      // The model, the budget and the tool results from the client.
      const model = await enterCall(call, request, text);
      const messages = await judgeResults(call);

      // Upstreams are tried in order until one does not fail.
      return await answerInTurn(call, model, async (turn) => {
        const read: ReadCall = { ...call, ...turn };
        const before = await runBeforeCall(read, messages);
        if (before.kind === 'refuse') return await toDenialReply(read, before.refusal);
        if (before.kind === 'answer') return await toStandInReply(read, before, 'before_call');

        // A response saved during an approval replaces the upstream's, which was already paid for.
        const kept = await tools?.recall(judgeContextOf(read));
        if (kept !== undefined)
          return await giveJudged(read, before, {
            answer: codec.readAnswer(kept, rules, request),
            give: async (body) => await giveAsAsked(read, body),
          });

        // The upstream's response: streamed or whole, errors included.
        const answer = await askInTurn(read, read, before.body);
        if (answer.status < 300 && mediaTypeOf(answer.headers) === 'text/event-stream') {
          if (request.isStream) return await judgeStream(read, before, answer);
          answer.discard();
          throw invalidAnswer('it is a stream, but none was requested');
        }
        const bytes = await account.time('upstream', () => readWhole(answer, config.limits.answerBytes));
        const body = decodeUtf8(bytes);
        if (body === undefined) throw invalidAnswer('it is not UTF-8');
        const isError = answer.status >= 400;
        const whole = isError ? codec.readError(body) : codec.readAnswer(body, rules, request);
        account.usage = whole.usage;
        return await giveJudged(read, before, {
          answer: whole,
          give: async (judged) => {
            const type = mediaTypeOf(answer.headers) ?? 'application/json';
            return await giveOn(call, answer, { type, body: judged, text: judged });
          },
        });
      });
    });
  };
  const reply = await answer().catch(
    async (thrown: unknown) => await refuse(client, account, { services, thrown }),
  );
  // Every response carries a request ID: the upstream's, if it has one.
  const id = isAnthropicEndpoint(client.endpoint) ? 'request-id' : 'x-request-id';
  return { ...reply, headers: { ...reply.headers, [id]: reply.headers[id] ?? account.id } };
}

async function refuse(
  client: ClientCall,
  account: CallAccount,
  { services, thrown }: { readonly services: GatewayServices; readonly thrown: unknown },
): Promise<ClientReply> {
  const codec = services.codecs[client.endpoint];
  const refusal = toRefusal(thrown);
  // Only the operator learns the cause.
  if (refusal.status === 500) services.report(thrown);
  else if (refusal.code === 'store_failed')
    services.report(thrown instanceof RefusedCall ? thrown.cause : thrown);
  const reply = toRefusalReply(codec, refusal);
  const outcome = client.signal.aborted ? 'aborted' : refusal.status >= 500 ? 'failed' : 'refused';
  try {
    const { status, code, message } = refusal;
    await account.end({ status, outcome, answer: String(reply.body), error: { code, message } });
    return reply;
  } catch (failed) {
    return toRefusalReply(codec, toRefusal(failed));
  }
}

type AskedModel = Pick<WireRequest, 'model' | 'isStream' | 'maxTokens' | 'choices'>;

async function enterCall(
  { client, services, account, caller }: CallOfCaller,
  asked: AskedModel,
  text: string,
): Promise<OfferedModel> {
  account.model = asked.model;
  account.isStream = asked.isStream;
  const offered = services.modelOf(client.endpoint, asked.model);
  account.offered = offered;
  const estimate = () =>
    estimateDearest(candidatesOf(offered, client.endpoint), {
      endpoint: client.endpoint,
      request: asked,
      text,
    });
  account.hold(await services.admission.enter(caller, asked.model, estimate));
  client.signal.throwIfAborted();
  return offered;
}

async function giveJudged(
  call: ReadCall,
  passed: PassedRequest,
  { answer, give }: { readonly answer: WireAnswer; readonly give: (body: string) => Promise<ClientReply> },
): Promise<ClientReply> {
  const { account, client } = call;
  const note = (decision: Decision) => account.decided('after_call', decision);
  const verdict = await account.time('hooks', () => judgeAnswer(answer, judgeOf(call, passed, note)));
  client.signal.throwIfAborted();
  if (verdict.kind === 'refuse') return await toDenialReply(call, verdict.refusal);
  if (verdict.kind === 'stand-in') return await toStandInReply(call, verdict, 'after_call');
  return await give(verdict.body);
}

async function giveOn(
  { account }: CallOfCaller,
  { status, headers }: UpstreamAnswer,
  given: { readonly type: string; readonly body: string | Uint8Array; readonly text: string | undefined },
): Promise<ClientReply> {
  await account.end({ status, outcome: status < 400 ? 'allowed' : 'failed', answer: given.text });
  return { status, headers: { ...returnedHeaders(headers), 'content-type': given.type }, body: given.body };
}

/** Answers a call that no hook reads. The response is forwarded unchanged. */
async function relay(call: CallOfCaller, text: string): Promise<ClientReply> {
  const { services, account } = call;
  const { limits } = services.config;
  if (isTextTooDeep(text, 0, limits.depth)) throw invalidRequest('The body is nested too deeply.');
  const request = peekRequest(text);
  const offered = await enterCall(call, request, text);
  return await answerInTurn(call, offered, async (turn) => {
    const answer = await askInTurn(call, turn, renameModel(request, turn.offered.upstreamName));
    const type = mediaTypeOf(answer.headers);
    if (type === 'text/event-stream') return relayStream(call, answer);
    const body = await account.time('upstream', () => readWhole(answer, limits.answerBytes));
    const told = account.countsTokens ? new TextDecoder().decode(body) : undefined;
    if (told !== undefined) account.usage = usageIn(told);
    return await giveOn(call, answer, { type: type ?? 'application/octet-stream', body, text: told });
  });
}

interface PeekedRequest extends AskedModel {
  readonly text: string;
  readonly modelPlace: Place;
}

/** Throws RefusedCall (400) unless the body is a JSON object without duplicate keys. */
function peekRequest(text: string): PeekedRequest {
  const root = tryOpen(text);
  if (root === undefined) throw invalidRequest('The body is not JSON.');
  if (root.kind !== 'object') throw invalidRequest('The body is not a JSON object.');
  const members = new Map<string, Place>();
  for (const { key, start, end } of scanMembers(text, root.start)) {
    if (members.has(key)) throw invalidRequest('The body has a duplicate key.', key.slice(0, 64));
    members.set(key, new Place(text, start, end));
  }
  const modelPlace = members.get('model');
  const model = modelPlace?.text;
  if (modelPlace === undefined || model === undefined || model === '')
    throw invalidRequest('The body has no "model".', 'model');
  const numberAt = (key: string) => {
    const place = members.get(key);
    const value = place?.kind === 'number' ? place.value : undefined;
    return typeof value === 'number' && value >= 0 ? value : undefined;
  };
  // Upstreams differ in which limit they use, so the largest counts.
  const limits = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'].flatMap(
    (key) => numberAt(key) ?? [],
  );
  return {
    ...{ text, modelPlace, model },
    isStream: members.get('stream')?.value === true,
    maxTokens: limits.length === 0 ? undefined : Math.max(...limits),
    choices: Math.max(1, numberAt('n') ?? 1),
  };
}

function renameModel({ text, modelPlace, model }: PeekedRequest, name: string): string {
  if (name === model) return text;
  return text.slice(0, modelPlace.start) + JSON.stringify(name) + text.slice(modelPlace.end);
}
