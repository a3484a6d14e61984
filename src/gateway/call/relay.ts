import { isTextTooDeep } from '../../base/json/depth.ts';
import { askInTurn } from '../fallback/ask-in-turn.ts';
import type { Turn } from '../fallback/turn.ts';
import type { CallOfCaller } from '../stages.ts';
import { mediaTypeOf, returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import { readWhole } from '../upstream-answer.ts';
import { invalidRequest } from '../wire/faults.ts';
import { answerInTurn } from './answer-in-turn.ts';
import type { ClientReply } from './client-call.ts';
import { enterCall } from './enter.ts';
import { type PeekedRequest, peekRequest, renameModel } from './peek.ts';
import { relayStream } from './relay-stream.ts';
import { usageIn } from './usage.ts';

/** Answers a call that no hook hears of: what comes goes on as it is, and no more of it is read than limits need. */
export async function relay(call: CallOfCaller, text: string): Promise<ClientReply> {
  const { limits } = call.services.config;
  if (isTextTooDeep(text, 0, limits.depth)) throw invalidRequest('The body is nested too deeply.');
  const request = peekRequest(text);
  const offered = await enterCall(call, request);
  return await answerInTurn(call, offered, (turn) => relayOf(call, request, turn));
}

async function relayOf(call: CallOfCaller, request: PeekedRequest, turn: Turn): Promise<ClientReply> {
  const answer = await askInTurn(call, turn, renameModel(request, turn.offered.upstreamName));
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
