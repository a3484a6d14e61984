import { Json } from '../../json/json.ts';
import { type Body, present } from '../body.ts';

/** The text of a decision: `reason`, else `message`, else what stands in for both. */
export function reasonOf(body: Body, stock = ''): string {
  const text = ['reason', 'message'].map((key) => body.get(key)?.value).find(isText);
  return text ?? stock;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Metadata with both texts as the hook gave them, and what else is told. */
export function metadataOf(body: Body, more: Readonly<Record<string, unknown>> = {}): Json {
  const texts = ['reason', 'message'].flatMap((key) => {
    const given = present(body.get(key));
    return given === undefined ? [] : [[key, given] as const];
  });
  const said = { ...Object.fromEntries(texts), ...more };
  return Object.keys(said).length === 0 ? new Json('{}') : Json.from({ picoclaw: said });
}
