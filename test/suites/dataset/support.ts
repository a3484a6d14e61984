import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { stringifyJson } from '../../../src/base/json/json.ts';
import type { Row } from '../../../src/suites/dataset/row.ts';
import { openRows } from '../../../src/suites/dataset/rows.ts';
import type { DatasetFormat } from '../../../src/suites/file/model.ts';
import { writeFiles } from '../support.ts';

export const never: AbortSignal = new AbortController().signal;

export async function readFile(
  name: string,
  content: string | Uint8Array,
  format?: DatasetFormat,
): Promise<Row[]> {
  return readPath(join(writeFiles({ [name]: content }), name), format);
}

export async function readPath(path: string, format?: DatasetFormat): Promise<Row[]> {
  const dataset = { kind: 'file', path, ...(format === undefined ? {} : { format }) } as const;
  return Array.fromAsync(openRows(dataset, never).rows);
}

/** A row as its number, its line, and its JSON or error. */
export function summarize({ number, line, content }: Row): [number, number, string] {
  return [number, line, content.usable ? stringifyJson(content.value) : content.problem.message];
}

export async function* cutBytes(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted(
    (one, other) => one - other,
  );
  for (const [index, end] of ends.entries()) yield bytes.subarray(ends[index - 1] ?? 0, end);
}

/** In mebibytes, after a full collection. */
export function usedMemory(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('this Node cannot collect on demand');
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / (1024 * 1024);
}
