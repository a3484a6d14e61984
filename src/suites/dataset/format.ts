import type { DatasetFormat } from '../file/model.ts';
import { nameOf } from './remote/address.ts';

/** The format by the extension of a file, before any `.gz`; JSON Lines for an unknown one. */
export function formatOf(file: string): DatasetFormat {
  const extension = /\.([^./]*)(?:\.gz)?$/i.exec(nameOf(file))?.[1]?.toLowerCase() ?? '';
  return byExtension.get(extension) ?? 'jsonl';
}

const byExtension: ReadonlyMap<string, DatasetFormat> = new Map([
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['json', 'json'],
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
]);
