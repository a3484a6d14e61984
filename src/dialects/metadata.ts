import { isObject, Json } from '../base/json/json.ts';
import { membersOf } from '../base/json/scan.ts';

export interface FailedOpen {
  readonly hook: string;
  readonly cause: string;
}

/**
 * Merges the metadata of several hooks into one object. The last value of a key wins, with its exact text. The first
 * `failed_open` is kept, with the others in its `more`.
 */
export function mergeMetadata(list: readonly Json[]): Json {
  if (list.every(saysNothing)) return noMetadata;
  const said = list.filter((each) => !saysNothing(each));
  return merge(said);
}

function saysNothing({ text }: Json): boolean {
  return text === noMetadata.text;
}

export const noMetadata = new Json('{}');

function merge(list: readonly Json[]): Json {
  const merged = new Map<string, Json>();
  for (const metadata of list) {
    for (const [key, value] of Object.entries(membersOf(metadata))) merged.set(key, value);
  }
  const [first, ...more] = unique(list.flatMap(failedOpenIn));
  if (first !== undefined) {
    merged.set('failed_open', Json.from({ ...first, ...(more.length > 0 && { more }) }));
  }
  return Json.from(Object.fromEntries(merged));
}

export function failedOpenIn({ value }: Json): FailedOpen[] {
  const failed = isObject(value) ? value['failed_open'] : undefined;
  if (!isObject(failed)) return [];
  const { more, ...first } = failed;
  return [first, ...(Array.isArray(more) ? more : [])].flatMap((each: unknown) => {
    const { hook, cause } = isObject(each) ? each : {};
    return typeof hook === 'string' && typeof cause === 'string' ? [{ hook, cause }] : [];
  });
}

function unique(failures: readonly FailedOpen[]): FailedOpen[] {
  const isSame = (one: FailedOpen, other: FailedOpen) => one.hook === other.hook && one.cause === other.cause;
  return failures.filter((each, index) => failures.findIndex((other) => isSame(other, each)) === index);
}
