/**
 * The id of the object that these bytes begin, as far as it can be read in a line that is cut off or not
 * UTF-8. An `id` deeper inside belongs to the data and names no request.
 */
export function findRequestId(bytes: Uint8Array): number | undefined {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    else if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      const id =
        depth === 1 && latin1(bytes, at, end).toLowerCase() === '"id"' ? readIdAfter(bytes, end) : undefined;
      if (id !== undefined) return id;
      at = end - 1;
    }
  }
  return undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return bytes.length;
}

function readIdAfter(bytes: Uint8Array, keyEnd: number): number | undefined {
  // What follows the number shows that no digit of it was cut off.
  const match = /^\s*:\s*"?(\d{1,15})(?:\.\d+)?"?\s*[,}]/.exec(latin1(bytes, keyEnd, keyEnd + 80));
  return match ? Number(match[1]) : undefined;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', start, end);
}
