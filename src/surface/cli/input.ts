import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { RuntimeError } from '../../errors.ts';
import { isObject, parseLossless } from '../../json.ts';

/** The text of an option: itself, `@FILE` for a file's content, `-` for stdin. Throws FILE_UNREADABLE. */
export async function readText(option: string, value: string): Promise<string> {
  if (value === '-') return decode(option, 'stdin', await buffer(process.stdin));
  if (!value.startsWith('@')) return value;
  const file = value.slice(1);
  try {
    return decode(option, file, readFileSync(file));
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError('FILE_UNREADABLE', `${option}: ${file} cannot be read (${reasonOf(error)})`, {
      cause: error,
    });
  }
}

/** A JSON object from an option, its long numbers intact. Throws USAGE when it is not one. */
export async function readObject(option: string, value: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(option, value);
  let parsed: unknown;
  try {
    parsed = parseLossless(text);
  } catch (error) {
    throw new RuntimeError('USAGE', `${option} is not JSON: ${reasonOf(error)}`, {
      hint: `Give ${option} a JSON object, @FILE or - for stdin.`,
    });
  }
  if (!isObject(parsed)) throw new RuntimeError('USAGE', `${option} is not a JSON object`);
  return parsed;
}

/** A number from an option. Throws USAGE. */
export function readNumber(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number))
    throw new RuntimeError('USAGE', `${option} takes a number, not "${value}"`);
  return number;
}

function decode(option: string, source: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RuntimeError('USAGE', `${option}: ${source} is not UTF-8`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
