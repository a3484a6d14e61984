import type { DatasetFormat } from '../file/model.ts';
import { readSeparated } from './csv.ts';
import { readJson } from './json.ts';
import { readJsonLines } from './jsonl.ts';
import type { ReadFormat } from './row.ts';
import { readYaml } from './yaml.ts';

/** The reader of each format. */
export const readers: Readonly<Record<DatasetFormat, ReadFormat>> = {
  jsonl: readJsonLines,
  json: readJson,
  csv: readSeparated(','),
  tsv: readSeparated('\t'),
  yaml: readYaml,
};
