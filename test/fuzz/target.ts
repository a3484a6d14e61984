import { RuntimeError } from '../../src/base/errors.ts';
import { RefusedCall } from '../../src/gateway/wire/refusal.ts';

/** Something that reads what others wrote, and what has to hold whatever that is. */
export interface Target {
  /** Inputs to begin with. For a target that reads bytes each character is one byte. */
  readonly seeds: readonly string[];
  /** Words that mean something to it. */
  readonly tokens: readonly string[];
  /** The most characters of an input; default: 2,000. */
  readonly maxLength?: number;
  /** Reads the input; throws, or rejects, when something does not hold that should. */
  readonly run: (input: string) => unknown;
}

/** What the reading gives; undefined when it throws an error of the catalogue or refuses a call. Whatever else is thrown goes on. */
export function coded<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RuntimeError && error.code !== 'INTERNAL') return undefined;
    if (error instanceof RefusedCall) return undefined;
    throw error;
  }
}

/** The same of a reading that takes its time. */
export async function codedLater<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    return coded<undefined>(() => {
      throw error;
    });
  }
}

/** Ends a run with a finding unless the condition holds. */
export function holds(condition: boolean, what: string, ...seen: readonly unknown[]): void {
  if (!condition) throw new Error(`${what} ${seen.map((value) => JSON.stringify(value)).join(' | ')}`.trim());
}

/** Ends a run with a finding unless both are the same as JSON. */
export function isSame(one: unknown, other: unknown, what: string): void {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  if (left !== right) throw new Error(`${what}: ${left} | ${right}`);
}

/** The bytes of an input of which each character is one. */
export function bytesOf(input: string): Buffer {
  return Buffer.from(input, 'latin1');
}

/** A text's bytes in UTF-8 as an input. */
export function inputOf(text: string | Uint8Array): string {
  return Buffer.from(text).toString('latin1');
}
