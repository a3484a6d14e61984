import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';

/** A file that is needed, and so must not be written over. */
export interface InputFile {
  readonly file: string;
  /** What it is, as in `the dataset`. */
  readonly what: string;
}

/** Throws USAGE for the first of these files that is one of the inputs, by whatever name. */
export function refuseInputs(files: readonly string[], inputs: readonly InputFile[]): void {
  if (files.length === 0) return;
  const places = new Map(inputs.toReversed().map((input) => [placeOf(input.file), input]));
  for (const file of files) {
    const input = places.get(placeOf(file) ?? '');
    if (input === undefined) continue;
    throw new RuntimeError('USAGE', `a report would be written over ${file}, which is ${input.what}`, {
      hint: 'Give the report another file; nothing was written.',
    });
  }
}

/** The same for every name of a file; undefined for a device or a pipe, which holds nothing. */
function placeOf(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return join(realpathSync(dirname(resolve(file))), basename(file));
    return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    // In a folder that is still to be made, or that nobody may look into.
    return resolve(file);
  }
}
