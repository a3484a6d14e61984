import type { CountryCode } from 'libphonenumber-js/max';
import type { Action } from './action.ts';
import type { Entity } from './entity.ts';
import type { OwnPattern } from './own-pattern.ts';

/** Where pseudonyms become values again: in answers, and in the arguments of tool calls. */
export const restorePlaces = ['answer', 'args'] as const;
export type RestorePlace = (typeof restorePlaces)[number];

/** What is looked at: texts by who says them, arguments of tools, definitions of tools, and the rest of a request. */
export const scanPlaces = ['system', 'user', 'assistant', 'tool', 'args', 'definitions', 'other'] as const;
export type ScanPlace = (typeof scanPlaces)[number];

/** The complete settings of a filter, defaults included. */
export interface PiiSettings {
  readonly entities: readonly Entity[];
  readonly actions: Readonly<Record<Entity, Action>>;
  /** Kinds of a user's own, looked for beside `entities`. */
  readonly patterns?: readonly OwnPattern[] | undefined;
  /** What is looked at; absent: everything. */
  readonly scan?: ReadonlySet<ScanPlace> | undefined;
  /**
   * Whose numbering plans hold for phone numbers without a country code, and whose numbers of identity papers need no word
   * beside them, ISO 3166; empty: the countries that the script of a text suggests.
   */
  readonly regions: readonly CountryCode[];
  readonly isAllowed: (text: string) => boolean;
  readonly restore: ReadonlySet<RestorePlace>;
  /** Of the hashes, and of the marks by which a conversation is known again. */
  readonly key: Uint8Array;
  /** Whether other processes have the same key, so that a mark can tell them the values of a conversation. */
  readonly isKeyShared?: boolean | undefined;
}

/** Whether any entity that is looked for gets a pseudonym. */
export function isPseudonymising({ entities, patterns = [], actions }: PiiSettings): boolean {
  return [...entities, ...patterns.map(({ name }) => name)].some(
    (entity) => actions[entity] === 'pseudonymise',
  );
}
