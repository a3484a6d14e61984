import { isObject } from '../../../json/json.ts';

export type Mapping = Readonly<Record<string, unknown>>;

/** The mapping under a key; an empty one where there is none. */
export function mappingAt(holder: Mapping, key: string): Mapping {
  const value = holder[key];
  return isObject(value) ? value : {};
}
