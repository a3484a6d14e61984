import { isUtf8 } from 'node:buffer';
import { type Document, LineCounter } from 'yaml';
import { RuntimeError } from '../../errors.ts';
import { parseYaml } from '../../yaml/document.ts';
import { syntaxProblems } from '../../yaml/syntax.ts';
import { type FoundRow, notUtf8, unusable } from './row.ts';
import { PackedFault } from './unpack.ts';
import { rowsOfDocument } from './yaml-rows.ts';

/**
 * The items of lists, or one row for each document that is no list, of YAML that is read as a whole. Where the text is
 * no YAML any more, one unusable row says so and is the last. Throws DATASET_INVALID for more than 8 MiB.
 */
export async function* readYaml(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<FoundRow> {
  const { bytes, fault } = await gather(chunks, file);
  if (fault === undefined) {
    yield* readWhole(bytes, file);
    return;
  }
  // Nobody can tell whether the last row is whole.
  const rows = [...readWhole(bytes.subarray(0, bytes.lastIndexOf('\n') + 1), file)];
  yield* rows.slice(0, -1);
  throw fault;
}

function* readWhole(bytes: Buffer, file: string): Generator<FoundRow> {
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
  /** Why there are no more. */
  readonly fault: PackedFault | undefined;
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
    if (thrown instanceof PackedFault) return { bytes: Buffer.concat(parts), fault: thrown };
    throw thrown;
  }
  return { bytes: Buffer.concat(parts), fault: undefined };
}

function tooLong(file: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${file} is longer than 8 MiB, and YAML is read as a whole`, {
    hint: 'Write a dataset of that size as JSON Lines, JSON or CSV, which are read row by row.',
  });
}

interface Break {
  readonly offset: number;
  readonly reason: string;
}

/** Where the document stops to mean anything. */
function findBreak(
  document: Document.Parsed,
  file: string,
  lineAt: (offset: number) => number,
): Break | undefined {
  const [first] = document.errors.toSorted((one, other) => one.pos[0] - other.pos[0]);
  if (first === undefined) return undefined;
  const problems = syntaxProblems(document, (offset) => ({ file, line: lineAt(offset), column: 1 }));
  const [offset] = first.pos;
  const told = problems.find(({ line }) => line === lineAt(offset)) ?? problems[0];
  return { offset, reason: told?.message ?? first.message };
}
