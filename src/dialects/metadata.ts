import { isObject, Json } from '../json/json.ts';
import { partsOf } from '../json/scan.ts';

/** A failure that a rule of a foreign system let pass. */
export interface FailedOpen {
  readonly hook: string;
  readonly cause: string;
}

/**
 * What several hooks said beside their verdicts, in one object: later members win, each with the text it had. Of
 * `failed_open` the first stays, and those after it stand in its `more`: none of them may hide another.
 */
export function mergeMetadata(list: readonly Json[]): Json {
  const merged = new Map<string, Json>();
  for (const metadata of list) {
    for (const [key, value] of Object.entries(partsOf(metadata))) merged.set(key, value);
  }
  const [first, ...more] = unique(list.flatMap(failuresIn));
  if (first !== undefined) {
    merged.set('failed_open', Json.from({ ...first, ...(more.length > 0 && { more }) }));
  }
  return Json.from(Object.fromEntries(merged));
}

/** Every failure that metadata tells of, in order. */
export function failuresIn({ value }: Json): FailedOpen[] {
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
