import type { Entity } from './entity.ts';
import type { ScannedText } from './scanned-text.ts';

/** The range from `start` up to, not including, `end`, in UTF-16 units. */
export interface Finding {
  readonly entity: Entity;
  readonly start: number;
  readonly end: number;
  /** Whether a checksum, a registry or a fixed shape confirms it, not only the context. */
  readonly isConfirmed: boolean;
}

/** Finds one kind of personal data. Must run in linear time for any text. */
export type Finder = (scan: ScannedText) => Iterable<Finding>;
