import { createHash } from 'node:crypto';

/** A whole number below 2^48, the same for the same text everywhere, and as good as drawn by lot. */
export function hashText(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
