import type { Entity } from './entity.ts';
import type { ScannedText } from './scanned-text.ts';

/** Personal data in a text: from `start` up to, not including, `end`, in UTF-16 units. */
export interface Finding {
  readonly entity: Entity;
  readonly start: number;
  readonly end: number;
  /** Whether a checksum, a registry or a fixed shape confirms it, rather than its surroundings alone. */
  readonly isConfirmed: boolean;
}

/** Finds one kind of personal data; in time linear in the length of the text, whatever the text. */
export type Finder = (scan: ScannedText) => Iterable<Finding>;
