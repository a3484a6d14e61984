import { stringifyJson } from '../../../src/base/json/json.ts';
import { readers } from '../../../src/suites/dataset/readers.ts';
import type { FileRow } from '../../../src/suites/dataset/row.ts';
import type { DatasetFormat } from '../../../src/suites/file/model.ts';
import { bytesOf, codedLater, holds, inputOf, isSame, type Target } from '../target.ts';

const formats: readonly DatasetFormat[] = ['jsonl', 'json', 'csv', 'tsv', 'yaml'];

/** A dataset in chunks. The first character selects the format, the second the chunk length. */
export const datasets: Target = {
  seeds: [
    '\0\u0007{"a":1}\n\n{"b":"x"}\r\n{"c":12345678901234567890}\nbroken\n',
    '\u0001\u0003[{"a":1},{"a":{"b":[1,"]"]}}, 5, "x"]',
    '\u0001\u0005{"a":1} {"b":2}\n{"c":3}',
    '\u0002\u0002a,b,__proto__\n1,"x,""y""\nz",3\n4,5\n=1+1,@x,-2\n',
    '\u0003\u0004a\tb\n1\t"x\ty"\n',
    '\u0004\u0009- a: 1\n- {b: [1, 2]}\n---\nc: &x 1\nd: *x\n',
    inputOf('\u0002\u0001naïve;b\n1;2\n'),
  ],
  tokens: [
    ...[
      '\n',
      '\r\n',
      '\r',
      ',',
      ';',
      '\t',
      '"',
      '""',
      '{',
      '}',
      '[',
      ']',
      ':',
      '{"a":1}',
      '- ',
      '  ',
      '&a ',
      '*a',
      '---\n',
    ],
    ...[
      '__proto__',
      'constructor',
      '\u00ef\u00bb\u00bf',
      '\u00ff\u00fe',
      '\0',
      '\u00e9',
      'null',
      '1e999',
      '"\\',
      '\u2028',
    ],
  ],
  maxLength: 800,
  run: async (input) => {
    const format = formats[(input.charCodeAt(0) || 0) % formats.length] ?? 'jsonl';
    const size = ((input.charCodeAt(1) || 0) & 15) + 1;
    const bytes = bytesOf(input.slice(2));
    const whole = await rowsOf(format, bytes, bytes.length + 1);
    isSame(whole, await rowsOf(format, bytes, size), `the same in pieces of ${size}`);
    for (const { line } of whole ?? [])
      holds(line >= 1 && line <= countLines(bytes) + 1, 'the line of a row', line);
  },
};

function countLines(bytes: Buffer): number {
  return bytes.toString('latin1').split(/\r\n|\r|\n/).length;
}

async function rowsOf(format: DatasetFormat, bytes: Buffer, size: number): Promise<ToldRow[] | undefined> {
  const rows = await codedLater(() => Array.fromAsync(readers[format](chunksOf(bytes, size), 'rows')));
  return rows?.map(tell);
}

interface ToldRow {
  readonly line: number;
  readonly told: string;
}

function tell({ line, content }: FileRow): ToldRow {
  return { line, told: content.usable ? stringifyJson(content.value) : content.problem.message };
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
