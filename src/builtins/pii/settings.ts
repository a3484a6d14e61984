import type { CountryCode } from 'libphonenumber-js/max';
import type { Action } from './action.ts';
import type { Entity } from './entity.ts';
import type { OwnPattern } from './own-pattern.ts';

/** Where pseudonyms are restored: in answers, and in tool arguments. */
export const restorePlaces = ['answer', 'args'] as const;
export type RestorePlace = (typeof restorePlaces)[number];

export const scanPlaces = ['system', 'user', 'assistant', 'tool', 'args', 'definitions', 'other'] as const;
export type ScanPlace = (typeof scanPlaces)[number];

export interface PiiSettings {
  readonly entities: readonly Entity[];
  readonly actions: Readonly<Record<Entity, Action>>;
  /** User-defined kinds, in addition to `entities`. */
  readonly patterns?: readonly OwnPattern[] | undefined;
  /** Absent: everything is scanned. */
  readonly scan?: ReadonlySet<ScanPlace> | undefined;
  /**
   * ISO 3166. Selects the numbering plans for phone numbers without a country code, and the identity numbers that need
   * no label. Empty: the countries that the script suggests.
   */
  readonly regions: readonly CountryCode[];
  readonly isAllowed: (text: string) => boolean;
  readonly restore: ReadonlySet<RestorePlace>;
  readonly key: Uint8Array;
  /** Whether other processes have the key, so that marks can carry a conversation's values. */
  readonly isKeyShared?: boolean | undefined;
}

export function isPseudonymising({ entities, patterns = [], actions }: PiiSettings): boolean {
  return [...entities, ...patterns.map(({ name }) => name)].some(
    (entity) => actions[entity] === 'pseudonymise',
  );
}
