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

export interface ChunkWork {
  readonly suite: string;
  readonly header: RunHeader;
  readonly dataset?: string | undefined;
  /** Replaces the providers of the suite's chat. */
  readonly providers?: readonly string[] | undefined;
  readonly epochs: number;
  readonly reducer?: string | undefined;
  readonly retries: number;
  readonly timeoutMs?: number | undefined;
  readonly keepGoing: boolean;
  readonly cache?: boolean | undefined;
}

export function readChunkWork(json: string): ChunkWork {
  return readShape(chunkWork, tryParseLossless(json), (path) => {
    return new RuntimeError('STORE_FAILED', `the stored run of a suite has an unknown format (at ${path})`, {
      hint: 'It may come from a newer Signalbox: run the suite and its workers with one version.',
    });
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

/** The path of a file relative to a folder, with `/` as separator, for other machines. Addresses stay unchanged. */
export function toShared(folder: string, file: string): string {
  if (isRemote(file)) return file;
  return relative(resolve(folder), resolve(file)).replaceAll('\\', '/');
}

export function fromShared(folder: string, shared: string): string {
  return isRemote(shared) ? shared : resolve(folder, shared);
}

/** Files whose changes affect a run: the suite and its pipelines. */
export function filesOf(suite: Suite): string[] {
  return [suite.file, ...subjectsOf(suite).flatMap((each) => (each.kind === 'pipeline' ? [each.file] : []))];
}

export function folderOf({ file }: Pick<Suite, 'file'>): string {
  return dirname(resolve(file));
}
