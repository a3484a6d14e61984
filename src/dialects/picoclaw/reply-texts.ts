import { Json } from '../../json/json.ts';
import { type Body, nonNull } from '../body.ts';

/** The reason in a reply: `reason`, else `message`, else the stock text. */
export function reasonOf(body: Body, stock = ''): string {
  const text = ['reason', 'message'].map((key) => body.get(key)?.value).find(isText);
  return text ?? stock;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The metadata with `reason` and `message` as the hook gave them, and further members. */
export function metadataOf(body: Body, more: Readonly<Record<string, unknown>> = {}): Json {
  const texts = ['reason', 'message'].flatMap((key) => {
    const given = nonNull(body.get(key));
    return given === undefined ? [] : [[key, given] as const];
  });
  const members = { ...Object.fromEntries(texts), ...more };
  return Object.keys(members).length === 0 ? new Json('{}') : Json.from({ picoclaw: members });
}
