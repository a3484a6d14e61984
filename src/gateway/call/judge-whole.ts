import { inTurnOf } from '../../base/time/turns.ts';
import type { Decision } from '../../contract/hook.ts';
import type { ReadCall } from '../stages.ts';
import { type AnswerJudge, createAnswerJudge } from '../stream/answer-judge.ts';
import { judgeAnswer } from '../stream/answer-verdict.ts';
import { mediaTypeOf, returnedHeaders } from '../upstream/headers.ts';
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import { readWhole } from '../upstream-answer.ts';
import type { WireAnswer } from '../wire/codec.ts';
import { invalidAnswer } from '../wire/faults.ts';
import { decodeUtf8 } from '../wire/strict-json.ts';
import { createFire, judgeContextOf, type PassedRequest } from './before-call.ts';
import type { ClientReply } from './client-call.ts';
import { toDenialReply, toStandInReply } from './stand-in.ts';

/** Takes a whole answer, an error too, through the after_call hooks. Throws RefusedCall. */
export async function judgeWhole(
  call: ReadCall,
  passed: PassedRequest,
  answer: UpstreamAnswer,
): Promise<ClientReply> {
  const { services, account, client, request } = call;
  const codec = services.codecs[client.endpoint];
  const bytes = await account.time('upstream', () => readWhole(answer, services.config.limits.answerBytes));
  const text = decodeUtf8(bytes);
  if (text === undefined) throw invalidAnswer('it is not UTF-8');
  const isError = answer.status >= 400;
  const read = isError ? codec.readError(text) : codec.readAnswer(text, services.rules, request);
  account.usage = read.usage;
  return await giveJudged(call, passed, read, (body) => giveOn(call, answer, body));
}

/** Gives what the after_call hooks make of an answer: a denial, a stand-in, or by `give` what they let pass of it. */
export async function giveJudged(
  call: ReadCall,
  passed: PassedRequest,
  read: WireAnswer,
  give: (body: string) => Promise<ClientReply>,
): Promise<ClientReply> {
  const { account, client } = call;
  const note = (decision: Decision) => account.decided('after_call', decision);
  const verdict = await account.time('hooks', () => judgeAnswer(read, judgeOf(call, passed, note)));
  client.signal.throwIfAborted();
  switch (verdict.kind) {
    case 'refuse':
      return await toDenialReply(call, verdict.refusal);
    case 'stand-in':
      return await toStandInReply(call, verdict, 'after_call');
    default:
      return await give(verdict.body);
  }
}

/** Who decides on the answer of a call. */
export function judgeOf(
  call: ReadCall,
  { request }: PassedRequest,
  onDecision?: (decision: Decision) => void,
): AnswerJudge {
  const { services, hooks, client } = call;
  const { tools } = services;
  const started = performance.now();
  return createAnswerJudge({
    fire: createFire(hooks.links, call.caller),
    request,
    latencyMs: () => Math.round(performance.now() - started),
    signal: client.signal,
    onDecision,
    judgeCalls:
      tools &&
      ((answer: WireAnswer, messages) =>
        inTurnOf(call.caller.keyId ?? '', () => tools.judgeCalls(answer, messages, judgeContextOf(call)))),
  });
}

async function giveOn(call: ReadCall, answer: UpstreamAnswer, body: string): Promise<ClientReply> {
  const { status } = answer;
  await call.account.end({ status, outcome: status < 400 ? 'allowed' : 'failed', answer: body });
  const mediaType = mediaTypeOf(answer.headers) ?? 'application/json';
  return { status, headers: { ...returnedHeaders(answer.headers), 'content-type': mediaType }, body };
}
