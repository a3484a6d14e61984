import { type Document, isNode, isSeq, type Node } from 'yaml';
import { isObject } from '../../base/json/json.ts';
import { type FileRow, type RowContent, unusable } from './row.ts';
import { newYamlReader } from './yaml-value.ts';

/**
 * The rows of one document; with a syntax error at `breakOffset`, only those that are complete before it.
 */
export function* rowsOfDocument(
  document: Document.Parsed,
  lineAt: (offset: number) => number,
  breakOffset?: number,
): Generator<FileRow> {
  const { contents } = document;
  const items = isSeq(contents) ? contents.items : isWritten(contents) ? [contents] : [];
  const reader = newYamlReader();
  for (const [index, item] of items.entries()) {
    if (!isNode(item) || !item.range) continue;
    // What the parser makes of an item that lacks its end looks whole, and is not.
    if (breakOffset !== undefined && startOf(items[index + 1]) > breakOffset) return;
    const [from] = item.range;
    const { value, mistake } = reader.read(item);
    yield mistake === undefined
      ? { line: lineAt(from), content: toContent(value) }
      : { line: lineAt(mistake.offset), content: unusable(mistake.message) };
  }
}

/** Whether the document has a value at all. */
function isWritten(contents: Node | null): contents is Node {
  return !!contents?.range && contents.range[1] > contents.range[0];
}

/** The offset where an item starts; infinity when there is no item. */
function startOf(item: unknown): number {
  return (isNode(item) ? item.range?.[0] : undefined) ?? Number.POSITIVE_INFINITY;
}

function toContent(value: unknown): RowContent {
  if (isObject(value) && !JSON.isRawJSON(value)) return { usable: true, value };
  const hint = 'A YAML dataset is a list of mappings, or one mapping in each document.';
  return unusable(`the row is ${Array.isArray(value) ? 'a list' : 'no mapping'}`, hint);
}
