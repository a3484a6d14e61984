import { Json } from './json.ts';
import { endOfString } from './scan.ts';

/** So many levels of lists and objects are followed, which leaves room on any stack for those who walk through them. */
export const DEEPEST = 1_000;

/** Whether a value is nested more deeply than that, or contains itself. Without recursion, so that it can always be told. */
export function isTooDeep(value: unknown): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { value: inner, depth } = at;
    if (typeof inner !== 'object' || inner === null) continue;
    if (depth > DEEPEST) return true;
    if (inner instanceof Json) {
      if (isTextTooDeep(inner.text, depth - 1)) return true;
    } else for (const member of Object.values(inner)) open.push({ value: member, depth: depth + 1 });
  }
  return false;
}

/** The same of JSON text, in which `outside` levels are open already. */
export function isTextTooDeep(text: string, outside = 0): boolean {
  // Nothing shorter can be.
  if (outside + text.length / 2 <= DEEPEST) return false;
  let depth = outside;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return false;
}
