import { crc32 } from 'node:zlib';
import { maxRowBytes } from '../json-object.ts';
import type { ByteRange } from './dataset-chunk.ts';

/** Lines with something in them, as bytes of a file. */
export interface LineRange extends ByteRange {
  readonly rows: number;
}

/**
 * Cuts the bytes of a file behind every so many lines that are not blank, at the speed at which they come. `offset`: of the first byte
 * in the file.
 */
export async function* indexLines(
  chunks: AsyncIterable<Buffer>,
  {
    offset,
    rowsPerChunk,
    bytesPerChunk,
  }: { readonly offset: number; readonly rowsPerChunk: number; readonly bytesPerChunk: number },
): AsyncGenerator<LineRange> {
  const place = {
    start: offset,
    at: offset,
    line: 1,
    firstLine: 1,
    rows: 0,
    sum: 0,
    hasText: false,
    lineStart: offset,
  };
  const cut = (): LineRange => {
    const { start, at: end, firstLine, rows, sum } = place;
    Object.assign(place, { start: end, firstLine: place.line, rows: 0, sum: 0 });
    return { start, end, firstLine, sum, rows };
  };
  for await (const bytes of chunks) {
    let summed = 0;
    let from = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, from)) {
      place.at += end + 1 - from;
      // A line that is too long to be looked at is a row.
      const isLong = place.at - 1 - place.lineStart > maxRowBytes;
      if (place.hasText || isLong || hasText(bytes, from, end)) place.rows += 1;
      place.hasText = false;
      place.line += 1;
      place.lineStart = place.at;
      from = end + 1;
      if (place.rows < rowsPerChunk && place.at - place.start < bytesPerChunk) continue;
      place.sum = crc32(bytes.subarray(summed, from), place.sum);
      summed = from;
      if (place.rows > 0) yield cut();
    }
    place.hasText ||= hasText(bytes, from, bytes.length);
    place.at += bytes.length - from;
    place.sum = crc32(bytes.subarray(summed), place.sum);
  }
  if (place.hasText || place.at - place.lineStart > maxRowBytes) place.rows += 1;
  if (place.rows > 0) yield cut();
}

const LINE_FEED = 0x0a;

/** Whether there is more than white space, as lines of datasets have it. */
function hasText(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return true;
  }
  return false;
}
