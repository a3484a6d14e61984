import { GIVEN_FOR_MS, type KeptAnswer } from '../memo/kept-answers.ts';
import type { Memo } from '../memo/memo.ts';
import { namesOfPrefixes } from '../memo/message-chain.ts';
import type { JudgeContext } from '../ports.ts';

/** The name of a request: that of its caller, its model and all its messages, not of settings such as `stream`. */
export function nameOfRequest(
  { key }: Pick<Memo, 'key'>,
  { caller, endpoint, model, request }: JudgeContext,
): string {
  const judge = JSON.stringify(['answer', endpoint, model, request.choices]);
  const owner = { keyId: caller.keyId ?? '', judge };
  return namesOfPrefixes(key, owner, request.payload).at(-1) ?? '';
}

export interface RecalledAnswer {
  readonly name: string;
  readonly runId: string;
  readonly body: string;
}

/** The answer that is kept for a request, unless it was given too long ago. Throws STORE_FAILED, or what SQLite says. */
export async function recallAnswer(
  { key, answers }: Memo,
  name: string,
): Promise<RecalledAnswer | undefined> {
  const kept = await answers.find(name);
  if (kept === undefined) return undefined;
  const body = isOver(kept) ? undefined : key.open(kept.sealed, name);
  if (body !== undefined) return { name, runId: kept.runId, body };
  await answers.remove(name);
  return undefined;
}

function isOver({ endedAt }: KeptAnswer): boolean {
  return endedAt !== null && endedAt < Date.now() - GIVEN_FOR_MS;
}
