import type { Decision } from '../../contract/hook.ts';
import { judgeAnswer } from '../stream/answer-verdict.ts';
import type { PassedRequest } from './before-call.ts';
import type { ClientReply } from './client-call.ts';
import { judgeOf } from './judge-whole.ts';
import type { ReadCall } from './stages.ts';
import { toDenialReply, toStandInReply } from './stand-in.ts';
import { streamHeaders } from './stream-headers.ts';

/**
 * Gives the answer that was kept while a person decided about its calls, judged as if the upstream had just given it. The
 * upstream was paid when it was kept. Throws RefusedCall.
 */
export async function giveKeptAnswer(
  call: ReadCall,
  passed: PassedRequest,
  kept: string,
): Promise<ClientReply> {
  const { services, account, client, request } = call;
  const codec = services.codecs[client.endpoint];
  const read = codec.readAnswer(kept, services.rules, request);
  const note = (decision: Decision) => account.decided('after_call', decision);
  const verdict = await account.time('hooks', () => judgeAnswer(read, judgeOf(call, passed, note)));
  client.signal.throwIfAborted();
  if (verdict.kind === 'refuse') return await toDenialReply(call, verdict.refusal);
  if (verdict.kind === 'stand-in') return await toStandInReply(call, verdict, 'after_call');
  const writer = request.isStream ? codec.stream?.writer(request) : undefined;
  const body = writer === undefined ? verdict.body : writer.finish(verdict.body);
  await account.end({ status: 200, outcome: 'allowed', answer: body });
  const headers = writer === undefined ? { 'content-type': 'application/json' } : streamHeaders;
  return { status: 200, headers, body };
}
