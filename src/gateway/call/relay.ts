import { forwardedHeaders, mediaTypeOf, returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import type { ClientReply } from './client-call.ts';
import { enterCall } from './enter.ts';
import { peekRequest, renameModel } from './peek.ts';
import { relayStream } from './relay-stream.ts';
import type { CallOfCaller } from './stages.ts';
import { readWhole, requireReadable } from './upstream-body.ts';
import { usageIn } from './usage.ts';

/** Answers a call that no hook hears of: what comes goes on as it is, and no more of it is read than limits need. */
export async function relay(call: CallOfCaller, text: string): Promise<ClientReply> {
  const { client, services, account } = call;
  const request = peekRequest(text);
  const offered = await enterCall(call, request);
  const answer = await account.time('upstream', () =>
    offered.upstream.send({
      endpoint: client.endpoint,
      query: client.query,
      headers: forwardedHeaders(client.headers, services.config.passThrough),
      body: renameModel(request, offered.upstreamName),
      signal: client.signal,
    }),
  );
  account.upstreamStatus = answer.status;
  requireReadable(answer, offered.provider.id);
  const mediaType = mediaTypeOf(answer.headers);
  if (mediaType === 'text/event-stream') return relayStream(call, answer);
  return await relayWhole(call, answer, mediaType);
}

async function relayWhole(
  { services, account }: CallOfCaller,
  answer: UpstreamAnswer,
  mediaType = 'application/octet-stream',
): Promise<ClientReply> {
  const body = await account.time('upstream', () => readWhole(answer, services.config.limits.answerBytes));
  const isAsked = account.countsTokens;
  const text = isAsked ? new TextDecoder().decode(body) : undefined;
  if (text !== undefined) account.usage = usageIn(text);
  const { status } = answer;
  await account.end({ status, outcome: status < 400 ? 'allowed' : 'failed', answer: text });
  return { status, headers: { ...returnedHeaders(answer.headers), 'content-type': mediaType }, body };
}
