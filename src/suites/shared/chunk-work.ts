import { dirname, relative, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import {
  flag,
  listOf,
  members,
  number,
  optional,
  readShape,
  type Shape,
  text,
} from '../../base/json/shape.ts';
import { isRemote } from '../dataset/remote/address.ts';
import { type Suite, subjectsOf } from '../file/model.ts';
import { type RunHeader, runHeader } from '../record.ts';

/** What all chunks of a run are judged with, beside the files of the build. */
export interface ChunkWork {
  /** Of the suite file, from the folder of the config; `/` between names. */
  readonly suite: string;
  readonly header: RunHeader;
  readonly dataset?: string | undefined;
  /** Whom the chat of the suite is asked of, in the place of its own. */
  readonly providers?: readonly string[] | undefined;
  readonly epochs: number;
  readonly reducer?: string | undefined;
  readonly retries: number;
  readonly timeoutMs?: number | undefined;
  readonly keepGoing: boolean;
  readonly cache?: boolean | undefined;
}

/** Reads what `JSON.stringify` made of one. Throws STORE_FAILED. */
export function readChunkWork(json: string): ChunkWork {
  return readShape(chunkWork, tryParseLossless(json), (path) => {
    return new RuntimeError(
      'STORE_FAILED',
      `a run of a suite is kept in words that are not known (at ${path})`,
      {
        hint: 'A newer Signalbox may have begun it: run the suite again, and its workers, with one version.',
      },
    );
  });
}

const chunkWork: Shape<ChunkWork> = members<ChunkWork>({
  suite: text,
  header: runHeader,
  dataset: optional(text),
  providers: optional(listOf(text)),
  epochs: number,
  reducer: optional(text),
  retries: number,
  timeoutMs: optional(number),
  keepGoing: flag,
  cache: optional(flag),
});

/** The path of a file as it is told to other machines: from a folder, with `/` between names. An address is the same everywhere. */
export function toShared(folder: string, file: string): string {
  if (isRemote(file)) return file;
  return relative(resolve(folder), resolve(file)).replaceAll('\\', '/');
}

/** Where that file is here. */
export function fromShared(folder: string, shared: string): string {
  return isRemote(shared) ? shared : resolve(folder, shared);
}

/** What a run of the suite does that a change of text would change: the text of its file, and of its pipeline. */
export function filesOf(suite: Suite): string[] {
  return [suite.file, ...subjectsOf(suite).flatMap((each) => (each.kind === 'pipeline' ? [each.file] : []))];
}

/** The folder from which a suite's paths are told. */
export function folderOf({ file }: Pick<Suite, 'file'>): string {
  return dirname(resolve(file));
}
