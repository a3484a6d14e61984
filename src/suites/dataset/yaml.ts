import { isUtf8 } from 'node:buffer';
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { RuntimeError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { exactNumber } from '../../base/yaml/read.ts';
import { parseYaml, syntaxProblems, tooDeep } from '../../base/yaml/syntax.ts';
import type { TreeMistake } from '../../base/yaml/tree.ts';
import { DecompressionError } from './decompress.ts';
import { type FileRow, notUtf8, type RowContent, unusable } from './row.ts';

/**
 * Reads the whole text: yields the items of each list, and one row for each other document. A syntax error yields one
 * invalid row, which is the last. Throws DATASET_INVALID for more than 8 MiB.
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
    const message = `the YAML is invalid here, and nothing after this was read: ${broken.reason}`;
    yield { line: lineAt(broken.offset), content: unusable(message) };
    return;
  }
}

const maxYamlBytes = 8 * 1024 * 1024;

interface Gathered {
  readonly bytes: Buffer;
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
  return new RuntimeError(
    'DATASET_INVALID',
    `${file} is larger than 8 MiB, which is the limit for YAML datasets`,
    {
      hint: 'Write a dataset of that size as JSON Lines, JSON or CSV, which are read row by row.',
    },
  );
}

interface YamlBreak {
  readonly offset: number;
  readonly reason: string;
}

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

/** With a syntax error at `breakOffset`, yields only the rows that are complete before it. */
function* rowsOfDocument(
  document: Document.Parsed,
  lineAt: (offset: number) => number,
  breakOffset?: number,
): Generator<FileRow> {
  const { contents } = document;
  const items = isSeq(contents) ? contents.items : isWritten(contents) ? [contents] : [];
  const reader = newYamlReader();
  for (const [index, item] of items.entries()) {
    if (!isNode(item) || !item.range) continue;
    // The parser completes a truncated item, so it looks whole but is not.
    if (breakOffset !== undefined && startOf(items[index + 1]) > breakOffset) return;
    const [from] = item.range;
    const { value, mistake } = reader.read(item);
    yield mistake === undefined
      ? { line: lineAt(from), content: toContent(value) }
      : { line: lineAt(mistake.offset), content: unusable(mistake.message) };
  }
}

function isWritten(contents: Node | null): contents is Node {
  return !!contents?.range && contents.range[1] > contents.range[0];
}

function startOf(item: unknown): number {
  return (isNode(item) ? item.range?.[0] : undefined) ?? Number.POSITIVE_INFINITY;
}

function toContent(value: unknown): RowContent {
  if (isObject(value) && !JSON.isRawJSON(value)) return { usable: true, value };
  const hint = 'A YAML dataset is a list of mappings, or one mapping in each document.';
  return unusable(`the row is ${Array.isArray(value) ? 'a list' : 'not a mapping'}`, hint);
}

/** `value` is meaningless if there is a mistake. */
interface YamlReading {
  readonly value: unknown;
  readonly mistake: TreeMistake | undefined;
}

interface YamlReader {
  read(node: Node): YamlReading;
}

/** Numbers that do not fit a double keep their digits. */
function newYamlReader(): YamlReader {
  const anchors = new Map<string, Anchored | 'open'>();
  return {
    read(node) {
      const walk: Walk = { anchors, mistakes: [], size: 0, depth: 0 };
      const value = readNode(node, walk);
      return { value, mistake: walk.mistakes[0] };
    },
  };
}

interface Anchored {
  readonly value: unknown;
  readonly size: number;
}

interface Walk {
  /** By name; `open` while the walk is inside the anchored node. */
  readonly anchors: Map<string, Anchored | 'open'>;
  readonly mistakes: TreeMistake[];
  size: number;
  depth: number;
}

/** Far deeper than any real row, but safe for the call stack. */
const maxDepth = 100;
/** Nested aliases can expand a short text beyond any memory. */
const maxValues = 1_000_000;

function readNode(node: unknown, walk: Walk): unknown {
  if (!isNode(node)) return null;
  if (isAlias(node)) return readAlias(node, walk);
  walk.size += 1;
  if (isScalar(node)) return remember(node, walk, () => readScalar(node, walk));
  if (walk.depth === maxDepth) return addMistake(node, tooDeep, walk);
  walk.depth += 1;
  const value = remember(node, walk, () => readCollection(node, walk));
  walk.depth -= 1;
  return value;
}

function remember(node: Exclude<Node, Alias>, walk: Walk, read: () => unknown): unknown {
  const { anchor } = node;
  if (anchor === undefined) return read();
  const before = walk.size;
  walk.anchors.set(anchor, 'open');
  const value = read();
  walk.anchors.set(anchor, { value, size: walk.size - before + 1 });
  return value;
}

function readAlias(node: Alias, walk: Walk): unknown {
  const known = walk.anchors.get(node.source);
  if (known === undefined)
    return addMistake(node, `no anchor named &${node.source} is defined above this alias`, walk);
  if (known === 'open') return addMistake(node, `the alias *${node.source} is inside its own anchor`, walk);
  walk.size += known.size;
  if (walk.size > maxValues)
    return addMistake(node, 'the aliases expand to more than a million values', walk);
  return known.value;
}

function readScalar(node: Scalar, walk: Walk): unknown {
  const { value, source } = node;
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value) && !/\d/.test(source ?? '')) {
    return addMistake(node, `${source ?? value} is a number that JSON cannot represent`, walk);
  }
  return exactNumber(value, source);
}

function readCollection(node: Node, walk: Walk): unknown {
  if (isSeq(node)) return node.items.map((item) => readNode(item, walk));
  return isMap(node) ? readMap(node, walk) : null;
}

function readMap(node: YAMLMap, walk: Walk): unknown {
  const own = new Map<string, unknown>();
  const merged = new Map<string, unknown>();
  for (const pair of node.items) {
    if (isMergeKey(pair)) {
      for (const [key, value] of readMerge(pair, walk)) if (!merged.has(key)) merged.set(key, value);
      continue;
    }
    const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
    if (own.has(key)) addMistake(pair.key, `duplicate key \`${key}\` in one mapping`, walk);
    own.set(key, readNode(pair.value, walk));
  }
  return Object.fromEntries([...merged, ...own]);
}

function isMergeKey({ key }: Pair): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN';
}

/** Returns the members with the highest precedence first. */
function readMerge(pair: Pair, walk: Walk): [string, unknown][] {
  const value = readNode(pair.value, walk);
  const sources: readonly unknown[] = Array.isArray(value) ? value : [value];
  return sources.flatMap((source) => {
    if (isObject(source) && !JSON.isRawJSON(source)) return Object.entries(source);
    addMistake(pair.value, 'a merge key `<<` must have a mapping or a list of mappings', walk);
    return [];
  });
}

function addMistake(node: unknown, message: string, { mistakes }: Walk): undefined {
  mistakes.push({ offset: (isNode(node) && node.range?.[0]) || 0, message });
}
