/**
 * Whether a line cannot be JSON, told by its first and its last character. A parser that throws costs far more, and a server may write a
 * million lines a second that are none.
 */
export function isPlainlyNoJson(bytes: Uint8Array): boolean {
  let start = 0;
  let end = bytes.length - 1;
  while (start <= end && isBlank(bytes[start])) start += 1;
  while (end > start && isBlank(bytes[end])) end -= 1;
  if (start > end) return true;
  const first = bytes[start] ?? 0;
  const last = bytes[end] ?? 0;
  if (first === MINUS || isDigit(first)) return !isDigit(last);
  return closing.get(first) !== last;
}

/** The last character of what begins with the first: objects, lists, texts, true, false, null. */
const closing: ReadonlyMap<number, number> = new Map(
  ['{}', '[]', '""', 'te', 'fe', 'nl'].map((ends) => [ends.charCodeAt(0), ends.charCodeAt(1)]),
);

/** Source: RFC 8259, section 2: the blanks of JSON. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

const MINUS = 0x2d;
