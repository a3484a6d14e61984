import { canonicalJson } from '../../base/json/equal.ts';
import type { ChatMessage } from '../../contract/provider.ts';

/** The index of the sent message that a replaced message stands for, and whether it is unchanged. */
export interface Alignment {
  readonly index: number;
  readonly isSame: boolean;
}

/**
 * Finds for each replaced message the one that was sent: first those that are the same, in order, then, where
 * as many were replaced between two of these as were sent, the one of that place and role.
 */
export function alignMessages(
  sent: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): (Alignment | undefined)[] {
  const aligned = findSame(sent, replaced);
  let from = 0;
  let sentFrom = 0;
  for (let to = 0; to <= replaced.length; to++) {
    const index = to === replaced.length ? sent.length : aligned[to]?.index;
    if (index === undefined) continue;
    if (index - sentFrom === to - from) {
      for (let at = from; at < to; at++) {
        const sentIndex = sentFrom + at - from;
        if (hasSameRole(sent[sentIndex], replaced[at])) aligned[at] = { index: sentIndex, isSame: false };
      }
    }
    from = to + 1;
    sentFrom = index + 1;
  }
  return aligned;
}

function findSame(sent: readonly ChatMessage[], replaced: readonly ChatMessage[]): (Alignment | undefined)[] {
  const indexesByText = new Map<string, number[]>();
  for (let index = sent.length - 1; index >= 0; index--) {
    const text = canonicalJson(sent[index]);
    const same = indexesByText.get(text);
    if (same === undefined) indexesByText.set(text, [index]);
    else same.push(index);
  }
  let next = 0;
  return replaced.map((message) => {
    const same = indexesByText.get(canonicalJson(message)) ?? [];
    let index = same.pop();
    while (index !== undefined && index < next) index = same.pop();
    if (index === undefined) return undefined;
    next = index + 1;
    return { index, isSame: true };
  });
}

function hasSameRole(sent: ChatMessage | undefined, replaced: ChatMessage | undefined): boolean {
  return sent !== undefined && sent.role === replaced?.role;
}
