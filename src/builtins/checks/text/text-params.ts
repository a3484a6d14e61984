import { Json } from '../../../base/json/json.ts';
import { searchFolded } from '../../../base/text/words.ts';
import { type EvalScored, scored } from '../../../contract/eval.ts';
import type { ParamSpec, Params } from '../check.ts';

export const textsParam = {
  type: 'array',
  items: { type: 'string', minLength: 1 },
  minItems: 1,
} as const satisfies ParamSpec['schema'];

export function textsOf(params: Params, name: string): readonly string[] {
  const value = params[name];
  return Array.isArray(value) ? value.map(String) : [];
}

export function scorePresent(content: string, texts: readonly string[]): EvalScored {
  const { has } = searchFolded(content);
  const missing = texts.filter((text) => !has(text));
  const found = texts.length - missing.length;
  const detail = missing.length === 0 ? 'all were found' : `missing: ${quoteAll(missing)}`;
  return scored(found / texts.length, detail, Json.from({ found, total: texts.length, missing }));
}

export function quoteAll(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}

export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
