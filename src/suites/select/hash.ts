import { hash } from 'node:crypto';

/** Hashes a text to a whole number below 2^48: the same on every machine, evenly distributed. */
export function hashText(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}
