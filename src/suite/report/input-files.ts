import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../../errors.ts';

/** A file that a run reads, which no report may overwrite. */
export interface InputFile {
  readonly file: string;
  /** What it is, as in `the dataset`. */
  readonly what: string;
}

/** Throws USAGE for the first of `files` that is one of the inputs, also under another name or link. */
export function refuseOverwriting(files: readonly string[], inputs: readonly InputFile[]): void {
  if (files.length === 0) return;
  const byIdentity = new Map(inputs.toReversed().map((input) => [fileIdentity(input.file), input]));
  for (const file of files) {
    const input = byIdentity.get(fileIdentity(file) ?? '');
    if (input === undefined) continue;
    throw new RuntimeError('USAGE', `a report would be written over ${file}, which is ${input.what}`, {
      hint: 'Give the report another file; nothing was written.',
    });
  }
}

/** Equal for every name of a file; undefined for devices and pipes, which cannot be overwritten. */
function fileIdentity(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return join(realpathSync(dirname(resolve(file))), basename(file));
    return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    // The folder does not exist yet, or cannot be read.
    return resolve(file);
  }
}
