import { closeSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { RuntimeError } from '../base/errors.ts';
import { isObject } from '../base/json/json.ts';
import { tryParseLossless } from '../base/json/parse.ts';
import { reasonOf, requireFile } from './input.ts';
import type { Invocation } from './invocation.ts';

export interface RecordingFlags {
  readonly record?: string;
  readonly replay?: string;
}

/** Checks --record and --replay before any work. Throws FILE_UNREADABLE, USAGE. */
export function requireRecordings(
  { record, replay }: RecordingFlags,
  { cwd }: Pick<Invocation, 'cwd'>,
): void {
  if (
    record !== undefined &&
    replay !== undefined &&
    isSameFile(resolve(cwd, record), resolve(cwd, replay))
  ) {
    throw new RuntimeError('USAGE', `--record and --replay name the same file, ${record}`, {
      hint: 'Record to another file.',
    });
  }
  if (replay !== undefined) requireRecording(replay);
  if (record !== undefined) requireWritable(record);
}

function isSameFile(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [statOf(one), statOf(other)];
  return left !== undefined && left.dev === right?.dev && left.ino === right.ino;
}

function requireRecording(file: string): void {
  requireFile('--replay', file);
  // Reading a pipe here would consume it.
  if (!isOnDisk(file)) return;
  const lines = readLines(file);
  if (lines.length === 0 || lines.some(isRecordedExchange)) return;
  throw new RuntimeError('FILE_UNREADABLE', `--replay: ${file} has no recorded model call`, {
    hint: 'Make a recording with `--record FILE`.',
  });
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
  } catch (error) {
    throw new RuntimeError('FILE_UNREADABLE', `--replay: ${file} cannot be read (${reasonOf(error)})`, {
      cause: error,
    });
  }
}

function isRecordedExchange(line: string): boolean {
  // A killed recorder may leave half a line.
  const value = tryParseLossless(line);
  return isObject(value) && ['provider', 'model', 'recorder', 'digest'].every((key) => key in value);
}

function requireWritable(file: string): void {
  // Opening a pipe would block until it has a reader.
  if (statOf(file) !== undefined && !isOnDisk(file)) return;
  try {
    closeSync(openSync(file, 'a+', 0o600));
  } catch (error) {
    throw new RuntimeError('FILE_UNREADABLE', `--record: ${file} cannot be written (${reasonOf(error)})`, {
      cause: error,
    });
  }
}

function isOnDisk(file: string): boolean {
  const stat = statOf(file);
  return stat !== undefined && (stat.isFile() || stat.isDirectory());
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}
