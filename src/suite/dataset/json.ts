import { type Element, newElementScanner } from './json-elements.ts';
import { type JsonWords, maxRowBytes, readJsonObject, wordSyntaxError } from './json-object.ts';
import { type FoundRow, type RowContent, unusable } from './row.ts';

/**
 * A list of JSON objects, or objects one after another, of which one is held at a time. Where the text is no JSON any
 * more, one unusable row says so and is the last.
 */
export async function* readJson(chunks: AsyncIterable<Buffer>): AsyncGenerator<FoundRow> {
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
  readonly row: FoundRow;
  readonly isLast: boolean;
}

const words: JsonWords = { subject: 'the element', hint: 'A JSON dataset is a list of objects.' };

function readElement({ line, bytes }: Element): Reading {
  let content: RowContent;
  try {
    content = readJsonObject(bytes, words);
  } catch (thrown) {
    return brokenAt(line, `the element that starts here is not JSON: ${wordSyntaxError(thrown)}`);
  }
  return { row: { line, content }, isLast: false };
}

function brokenAt(line: number, reason: string): Reading {
  const message = `the JSON is broken here, and nothing behind this was read: ${reason}`;
  return { row: { line, content: unusable(message, words.hint) }, isLast: true };
}
