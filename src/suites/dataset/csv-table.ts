import { RuntimeError } from '../../base/errors.ts';
import { formatCount } from '../../base/text/format-count.ts';
import { cut } from '../../base/text/width.ts';
import type { TextRecord } from './csv-records.ts';
import { type FileRow, type RowContent, unusable } from './row.ts';

/** Turns records into rows, with the column names of the first record. */
export interface CsvTable {
  /**
   * Undefined for the first record, the header. Throws DATASET_INVALID when that is not a usable header.
   */
  toRow(record: TextRecord): FileRow | undefined;
}

export function newCsvTable(file: string, delimiter: string): CsvTable {
  let header: readonly string[] | undefined;
  return {
    toRow(record) {
      if (header !== undefined) return { line: record.line, content: toContent(record, header) };
      header = readHeader(record, { file, delimiter });
      return undefined;
    },
  };
}

function toContent({ content }: TextRecord, header: readonly string[]): RowContent {
  if (!content.usable) return content;
  const { fields } = content;
  if (fields.length !== header.length) {
    return unusable(`the row has ${count(fields.length)}, and the header has ${header.length}`, fieldsHint);
  }
  return { usable: true, value: Object.fromEntries(header.map((name, index) => [name, fields[index]])) };
}

const fieldsHint = 'Put a field that holds the separator or a line end into quotes.';

function count(fields: number): string {
  return formatCount(fields, 'field');
}

interface TableOptions {
  readonly file: string;
  readonly delimiter: string;
}

function readHeader({ line, content }: TextRecord, { file, delimiter }: TableOptions): readonly string[] {
  if (!content.usable) throw badHeader(file, line, content.problem.message);
  const { fields } = content;
  refuseOtherSeparator(fields, { file, line, delimiter });
  const nameless = fields.indexOf('');
  if (nameless !== -1) throw badHeader(file, line, `column ${nameless + 1} has no name`);
  const repeated = findRepeated(fields);
  if (repeated !== undefined) throw badHeader(file, line, `two columns have the name "${repeated}"`);
  return fields;
}

/** In one walk: a header may have a million columns. */
function findRepeated(fields: readonly string[]): string | undefined {
  const names = new Set<string>();
  return fields.find((name) => names.size === names.add(name).size);
}

/** A header of one column in which another separator stands was separated by that one. */
function refuseOtherSeparator(
  fields: readonly string[],
  { file, line, delimiter }: TableOptions & { readonly line: number },
): void {
  const [only = ''] = fields;
  const other =
    fields.length === 1
      ? separators.find(({ sign }) => sign !== delimiter && only.includes(sign))
      : undefined;
  if (other === undefined) return;
  const names = only.split(other.sign).map((name) => cut(name.trim(), 40));
  const what = `the header row is one column, which looks like ${names.length} with ${other.name} between them: ${names.slice(0, 10).join(', ')}`;
  const wanted = delimiter === ',' ? 'commas' : 'tabs';
  const orFormat =
    other.sign === '\t' ? ' Or say format: tsv.' : other.sign === ',' ? ' Or say format: csv.' : '';
  throw new RuntimeError('DATASET_INVALID', `${file}:${line}: ${what}`, {
    hint: `Save the dataset with ${wanted} between its columns; spreadsheets ask for the separator when they export.${orFormat}`,
  });
}

const separators = [
  { sign: ';', name: 'semicolons' },
  { sign: '\t', name: 'tabs' },
  { sign: '|', name: 'bars' },
  { sign: ',', name: 'commas' },
] as const;

function badHeader(file: string, line: number, why: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${file}:${line}: the header row cannot be used: ${why}`, {
    hint: 'The first row names the columns, each with a name of its own.',
  });
}
