import type { ReadCall } from '../stages.ts';
import type { PassedRequest } from './before-call.ts';
import type { ClientReply } from './client-call.ts';
import { giveJudged } from './judge-whole.ts';
import { giveAsAsked } from './stand-in.ts';

/**
 * Gives the answer that was kept while a person decided about its calls, judged as if the upstream had just given it. The
 * upstream was paid when it was kept. Throws RefusedCall.
 */
export async function giveKeptAnswer(
  call: ReadCall,
  passed: PassedRequest,
  kept: string,
): Promise<ClientReply> {
  const { services, client, request } = call;
  const read = services.codecs[client.endpoint].readAnswer(kept, services.rules, request);
  return await giveJudged(call, passed, read, (body) => giveAsAsked(call, body));
}
