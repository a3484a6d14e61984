import { jsonHint, wordJsonError } from '../../base/json/json-hint.ts';
import { type JsonElement, newElementScanner } from './json-elements.ts';
import { maxRowBytes, type RowWording, readJsonObject } from './json-object.ts';
import { type FileRow, type RowContent, unusable } from './row.ts';

/**
 * Reads a list of JSON objects, or objects one after another, one in memory at a time. Invalid JSON becomes
 * one unusable row, which is the last.
 */
export async function* readJson(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  const scanner = newElementScanner(maxRowBytes);
  const read = function* (found: ReturnType<typeof scanner.push>): Generator<Reading> {
    for (const each of found) {
      yield each.kind === 'element' ? readElement(each) : brokenAt(each.line, each.reason);
    }
  };
  for await (const chunk of chunks) {
    for (const { row, isLast } of read(scanner.push(chunk))) {
      yield row;
      if (isLast) return;
    }
  }
  for (const { row, isLast } of read(scanner.end())) {
    yield row;
    if (isLast) return;
  }
}

interface Reading {
  readonly row: FileRow;
  readonly isLast: boolean;
}

const words: RowWording = { subject: 'the element', hint: 'A JSON dataset is a list of objects.' };

function readElement({ line, bytes }: JsonElement): Reading {
  let content: RowContent;
  try {
    content = readJsonObject(bytes, words);
  } catch (thrown) {
    const text = new TextDecoder().decode(bytes);
    const reason = `the element that starts here is not JSON: ${wordJsonError(thrown, text)}`;
    return brokenAt(line, reason, jsonHint(text));
  }
  return { row: { line, content }, isLast: false };
}

function brokenAt(line: number, reason: string, hint = words.hint): Reading {
  const message = `the JSON is broken here, and nothing behind this was read: ${reason}`;
  return { row: { line, content: unusable(message, hint) }, isLast: true };
}
