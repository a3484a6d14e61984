import type { Source } from '../../../base/yaml/source.ts';

/** What a key becomes; what it does not take is reported. */
type Take<Value> = (given: Source) => Value;

/** The same of several keys, of which the first that is given counts. */
export type TakeFirst<Value> = readonly [keys: readonly string[], take: Take<Value>];

/** The keys that a format reads of one kind of object; whatever stands beside them is reported. */
export interface KeyTable<Members> {
  readonly read: { readonly [Name in keyof Members]: Take<Members[Name]> | TakeFirst<Members[Name]> };
  /** Keys that change no answer and no verdict: of them a note is enough. */
  readonly idle?: readonly string[];
}

/** What is read of an object by such a table. */
export function readKeys<Members>(source: Source, { read, idle = [] }: KeyTable<Members>): Members {
  for (const key of idle)
    if (source.at(key).isGiven)
      source.at(key).leave(`\`${key}\` is not carried, and changes nothing`, undefined, 'note');
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
/** For a reader that takes its members itself. */
export const asGiven: Take<Source> = (given) => given;
