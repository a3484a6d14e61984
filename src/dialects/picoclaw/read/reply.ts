import { Json } from '../../../json/json.ts';
import { type Body, nonNull, toBody } from '../../body.ts';
import type { Note } from '../../dialect.ts';
import { isAmbiguous, noteUnknownKeys } from '../../unknown-keys.ts';
import { foldBody } from '../json-parts.ts';
import { noteUnimplementedKeys } from '../misplaced-denial.ts';

/** The object in a reply, whose keys but the verdict count in any letter case, and the notes on its members. */
export interface ReplyObject {
  readonly body: Body;
  readonly notes: readonly Note[];
  /** Whether a verdict stands in it more than once. */
  readonly isAmbiguous: boolean;
}

/** Reads the object of a result that has these members at the point, the verdict first. */
export function readReplyObject(given: Json, point: string, known: readonly string[]): ReplyObject {
  const body = foldBody(toBody(given), known.slice(1));
  return {
    body,
    notes: [...noteUnknownKeys(body, known), ...noteUnimplementedKeys(body, point)],
    isAmbiguous: ['action', 'approved'].some((key) => isAmbiguous(body, key)),
  };
}

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
