import { endOfString } from './ends.ts';
import { Json } from './json.ts';

/** The deepest accepted nesting of lists and objects. Recursive code stays within the stack. */
export const MAX_JSON_DEPTH = 1_000;

/** Also true for a value that contains itself. Not recursive, so it works at any depth. */
export function isTooDeep(value: unknown): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { value: inner, depth } = at;
    if (typeof inner !== 'object' || inner === null) continue;
    if (depth > MAX_JSON_DEPTH) return true;
    if (inner instanceof Json) {
      if (isTextTooDeep(inner.text, depth - 1)) return true;
    } else for (const member of Object.values(inner)) open.push({ value: member, depth: depth + 1 });
  }
  return false;
}

/** `outside`: levels around the text. */
export function isTextTooDeep(text: string, outside = 0, max = MAX_JSON_DEPTH): boolean {
  if (outside + text.length / 2 <= max) return false;
  let depth = outside;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > max) return true;
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return false;
}
