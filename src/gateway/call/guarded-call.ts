import type { ChatMessage } from '../../contract/provider.ts';
import { askInTurn } from '../fallback/ask-in-turn.ts';
import type { GuardedCall, ReadCall } from '../stages.ts';
import { mediaTypeOf } from '../upstream/headers.ts';
import { invalidAnswer } from '../wire/faults.ts';
import { answerInTurn } from './answer-in-turn.ts';
import { judgeContextOf, judgeResults, type PassedRequest, runBeforeCall } from './before-call.ts';
import type { ClientReply } from './client-call.ts';
import { enterCall } from './enter.ts';
import { judgeStream } from './judge-stream.ts';
import { judgeWhole } from './judge-whole.ts';
import { giveKeptAnswer } from './kept-answer.ts';
import { toDenialReply, toStandInReply } from './stand-in.ts';

/** Answers a call whose request and answer pass hooks. Throws RefusedCall. */
export async function answerGuarded(call: GuardedCall, text: string): Promise<ClientReply> {
  const { client, services } = call;
  const codec = services.codecs[client.endpoint];
  const request = codec.readRequest(text, services.rules, client.headers);
  const { model, isStream, maxTokens, choices } = request;
  const offered = await enterCall(call, { text, model, isStream, maxTokens, choices });
  const messages = await judgeResults({ ...call, request });
  return await answerInTurn(call, offered, (turn) => answerFrom({ ...call, ...turn, request }, messages));
}

/** Answers from one upstream: hooks judge what it is sent, and what it answers. */
async function answerFrom(read: ReadCall, messages: readonly ChatMessage[]): Promise<ClientReply> {
  const before = await runBeforeCall(read, messages);
  switch (before.kind) {
    case 'refuse':
      return await toDenialReply(read, before.refusal);
    case 'answer':
      return await toStandInReply(read, before, 'before_call');
    case 'pass':
      return await judgeUpstream(read, before);
  }
}

async function judgeUpstream(call: ReadCall, passed: PassedRequest): Promise<ClientReply> {
  const kept = await call.services.tools?.recall(judgeContextOf(call));
  if (kept !== undefined) return await giveKeptAnswer(call, passed, kept);
  const answer = await askInTurn(call, call, passed.body);
  const isStream = answer.status < 300 && mediaTypeOf(answer.headers) === 'text/event-stream';
  if (!isStream) return await judgeWhole(call, passed, answer);
  if (call.request.isStream) return await judgeStream(call, passed, answer);
  answer.discard();
  throw invalidAnswer('it is a stream, and none was asked for');
}
