import { isUtf8 } from 'node:buffer';
import { type Document, LineCounter } from 'yaml';
import { RuntimeError } from '../../base/errors.ts';
import { parseYaml, syntaxProblems } from '../../base/yaml/syntax.ts';
import { DecompressionError } from './decompress.ts';
import { type FileRow, notUtf8, unusable } from './row.ts';
import { rowsOfDocument } from './yaml-rows.ts';

/**
 * Reads YAML as a whole: the items of lists, and one row for each document that is not a list. A syntax
 * error becomes one unusable row, which is the last. Throws DATASET_INVALID for more than 8 MiB.
 */
export async function* readYaml(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<FileRow> {
  const { bytes, fault } = await gather(chunks, file);
  if (fault === undefined) {
    yield* readWhole(bytes, file);
    return;
  }
  // The last row may be incomplete.
  const rows = [...readWhole(bytes.subarray(0, bytes.lastIndexOf('\n') + 1), file)];
  yield* rows.slice(0, -1);
  throw fault;
}

function* readWhole(bytes: Buffer, file: string): Generator<FileRow> {
  if (!isUtf8(bytes)) {
    yield { line: 1, content: notUtf8('the file', bytes) };
    return;
  }
  const lines = new LineCounter();
  const lineAt = (offset: number): number => Math.max(lines.linePos(offset).line, 1);
  for (const document of parseYaml(bytes.toString('utf8'), lines)) {
    const broken = findBreak(document, file, lineAt);
    yield* rowsOfDocument(document, lineAt, broken?.offset);
    if (broken === undefined) continue;
    const message = `the YAML is broken here, and nothing behind this was read: ${broken.reason}`;
    yield { line: lineAt(broken.offset), content: unusable(message) };
    return;
  }
}

const maxYamlBytes = 8 * 1024 * 1024;

interface Gathered {
  readonly bytes: Buffer;
  /** Why reading ended early; undefined when it did not. */
  readonly fault: DecompressionError | undefined;
}

async function gather(chunks: AsyncIterable<Buffer>, file: string): Promise<Gathered> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      size += chunk.length;
      if (size > maxYamlBytes) throw tooLong(file);
    }
  } catch (thrown) {
    if (thrown instanceof DecompressionError) return { bytes: Buffer.concat(parts), fault: thrown };
    throw thrown;
  }
  return { bytes: Buffer.concat(parts), fault: undefined };
}

function tooLong(file: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${file} is longer than 8 MiB, and YAML is read as a whole`, {
    hint: 'Write a dataset of that size as JSON Lines, JSON or CSV, which are read row by row.',
  });
}

interface YamlBreak {
  readonly offset: number;
  readonly reason: string;
}

/** The first syntax error of the document. */
function findBreak(
  document: Document.Parsed,
  file: string,
  lineAt: (offset: number) => number,
): YamlBreak | undefined {
  const [first] = document.errors.toSorted((one, other) => one.pos[0] - other.pos[0]);
  if (first === undefined) return undefined;
  const problems = syntaxProblems(document, (offset) => ({ file, line: lineAt(offset), column: 1 }));
  const [offset] = first.pos;
  const problem = problems.find(({ line }) => line === lineAt(offset)) ?? problems[0];
  return { offset, reason: problem?.message ?? first.message };
}
