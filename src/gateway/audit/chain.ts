import { hash } from 'node:crypto';

/** A row's place in the chain, and what is kept there. */
export interface Link {
  readonly chain: string;
  /** From 1, without gaps. */
  readonly seq: number;
  /** The hash of the row before. */
  readonly previous: string;
  /** The JSON text of the row, exactly as it is kept. */
  readonly body: string;
}

/** What stands for the hash of the row before the first. */
export const noHash = '0'.repeat(64);

/**
 * The hash of a row: SHA-256, in hex, of five lines. All but the last have no line breaks by what they are, so no two links have
 * the same lines.
 */
export function hashLink({ chain, seq, previous, body }: Link): string {
  return hash('sha256', `signalbox-audit/1\n${chain}\n${seq}\n${previous}\n${body}`);
}

/** The SHA-256 of a text, in hex. */
export function digestOf(text: string): string {
  return hash('sha256', text);
}
