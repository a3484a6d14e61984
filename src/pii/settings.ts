import type { CountryCode } from 'libphonenumber-js/max';
import type { Action } from './action.ts';
import type { Entity } from './entity.ts';

/** Where pseudonyms become values again: in answers, and in the arguments of tool calls. */
export const restorePlaces = ['answer', 'args'] as const;
export type RestorePlace = (typeof restorePlaces)[number];

/** The complete settings of a filter, defaults included. */
export interface PiiSettings {
  readonly entities: readonly Entity[];
  readonly actions: Readonly<Record<Entity, Action>>;
  /** Whose numbering plans hold for phone numbers without a country code, ISO 3166. */
  readonly regions: readonly CountryCode[];
  readonly isAllowed: (text: string) => boolean;
  readonly restore: ReadonlySet<RestorePlace>;
  /** Of the hashes, and of the marks by which a conversation is known again. */
  readonly key: Uint8Array;
  /** Whether other processes have the same key, so that a mark can tell them the values of a conversation. */
  readonly isKeyShared?: boolean | undefined;
}

/** Whether any entity that is looked for gets a pseudonym. */
export function isPseudonymising({ entities, actions }: PiiSettings): boolean {
  return entities.some((entity) => actions[entity] === 'pseudonymise');
}
