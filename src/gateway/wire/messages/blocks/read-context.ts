import type { WireRules } from '../../codec.ts';
import type { Place } from '../../place.ts';
import type { PartPosition } from './body-part.ts';
import type { BlockPosition } from './told-content.ts';

/** How blocks are read: in a request or in an answer, whose refusals differ. */
export interface ReadContext {
  readonly rules: WireRules;
  readonly isAnswer: boolean;
  /** For a value that is not what its place allows. */
  readonly malformed: (path: string) => Error;
  /** For a kind that hooks cannot be shown. */
  readonly unknown: (kind: string, path: string) => Error;
  /** For content that the upstream keeps. */
  readonly reference: (path: string) => Error;
}

/** A block, its path from the message, and its path from the body, which errors name. */
export interface PathedBlock extends BlockPosition {
  readonly path: string;
  readonly fullPath: string;
}

/** A list of blocks with the same paths. */
export interface PathedList {
  readonly list: Place;
  readonly path: string;
  readonly fullPath: string;
}

/** A member that has to be a string. */
export function requireString(
  { block, fullPath }: Pick<PathedBlock, 'block' | 'fullPath'>,
  key: string,
  { malformed }: ReadContext,
): Place {
  const place = block.at(key);
  if (place?.kind !== 'string') throw malformed(`${fullPath}.${key}`);
  return place;
}

export function positionOf({ owner, entry }: BlockPosition): PartPosition {
  return { owner, entry };
}
