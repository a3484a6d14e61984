import { jsonHint, wordJsonError } from '../../base/json/json-hint.ts';
import { maxRowBytes, type RowWording, readJsonObject } from './json-object.ts';
import { splitLines } from './lines.ts';
import { type FileRow, type RowContent, unusable } from './row.ts';

/** One JSON object on each line; blank lines are no rows. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileRow> {
  for await (const { number, bytes } of splitLines(chunks, maxRowBytes)) {
    if (bytes === undefined || !isBlank(bytes)) yield { line: number, content: readLine(bytes) };
  }
}

const words: RowWording = { subject: 'the line', hint: 'A dataset has one JSON object on each line.' };

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

function readLine(bytes: Buffer | undefined): RowContent {
  try {
    return readJsonObject(bytes, words);
  } catch (thrown) {
    const text = new TextDecoder().decode(bytes);
    return unusable(`the line is not JSON: ${wordJsonError(thrown, text)}`, jsonHint(text) ?? words.hint);
  }
}
