import type { Source } from '../../../base/yaml/source.ts';

type Take<Value> = (given: Source) => Value;

export type TakeFirst<Value> = readonly [keys: readonly string[], take: Take<Value>];

/** The keys that a format reads from one kind of object. All other keys are noted. */
export interface KeyTable<Members> {
  readonly read: { readonly [Name in keyof Members]: Take<Members[Name]> | TakeFirst<Members[Name]> };
  /** Keys that affect no answer or verdict; noted with severity `note`. */
  readonly idle?: readonly string[];
}

export function readKeys<Members>(source: Source, { read, idle = [] }: KeyTable<Members>): Members {
  for (const key of idle)
    if (source.at(key).isGiven)
      source.at(key).leave(`\`${key}\` is left out, and changes nothing`, undefined, 'note');
  const entries = Object.entries<Take<unknown> | TakeFirst<unknown>>(read).map(([name, taken]) => {
    const [keys, take] = typeof taken === 'function' ? [[name], taken] : taken;
    return [name, take(source.at(keys.find((key) => source.at(key).isGiven) ?? keys[0] ?? name))] as const;
  });
  return Object.fromEntries(entries) as Members;
}

export const asText: Take<string | undefined> = (given) => given.text();
export const asScalar: Take<string | undefined> = (given) => given.scalar();
export const asNumber: Take<number | undefined> = (given) => given.number();
export const asTexts: Take<readonly string[] | undefined> = (given) => given.texts();
export const asMapping: Take<Readonly<Record<string, unknown>> | undefined> = (given) => given.mapping();
export const asItems: Take<readonly Source[]> = (given) => given.items();
/** For a reader that handles the members itself. */
export const asGiven: Take<Source> = (given) => given;
