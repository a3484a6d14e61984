import { RuntimeError } from '../../src/base/errors.ts';
import { RefusedCall } from '../../src/gateway/wire/refusal.ts';

/** A reader of untrusted input, with the properties that it must have. */
export interface Target {
  /** For a target that reads bytes, each character is one byte. */
  readonly seeds: readonly string[];
  readonly tokens: readonly string[];
  /** The most characters of an input; default: 2,000. */
  readonly maxLength?: number;
  /** Throws or rejects if a property is violated. */
  readonly run: (input: string) => unknown;
}

/** The value, or undefined for an error of the catalogue or a refused call. Rethrows any other error. */
export function coded<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RuntimeError && error.code !== 'INTERNAL') return undefined;
    if (error instanceof RefusedCall) return undefined;
    throw error;
  }
}

export async function codedLater<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    return coded<undefined>(() => {
      throw error;
    });
  }
}

/** Throws a finding unless the condition holds. */
export function holds(condition: boolean, what: string, ...seen: readonly unknown[]): void {
  if (!condition) throw new Error(`${what} ${seen.map((value) => JSON.stringify(value)).join(' | ')}`.trim());
}

export function isSame(one: unknown, other: unknown, what: string): void {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  if (left !== right) throw new Error(`${what}: ${left} | ${right}`);
}

export function bytesOf(input: string): Buffer {
  return Buffer.from(input, 'latin1');
}

/** An input with one character for each UTF-8 byte. */
export function inputOf(text: string | Uint8Array): string {
  return Buffer.from(text).toString('latin1');
}
