import type { Libc } from './libc.ts';

/** A null-terminated list of C strings, as `argv` and `envp` are, in one piece of memory that points into itself. */
export function encodeStrings({ addressOf, pointerBytes }: Libc, texts: readonly string[]): Buffer {
  const strings = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const tableBytes = (texts.length + 1) * pointerBytes;
  // Not from Node's pool, whose pieces may not be aligned.
  const list = Buffer.allocUnsafeSlow(tableBytes + strings.length);
  strings.copy(list, tableBytes);
  const table = tableOf(list, texts.length + 1, pointerBytes);
  let next = addressOf(list) + BigInt(tableBytes);
  for (const [index, text] of texts.entries()) {
    table(index, next);
    next += BigInt(Buffer.byteLength(text) + 1);
  }
  table(texts.length, 0n);
  return list;
}

/** Writes addresses in the order of bytes of this machine. */
function tableOf({ buffer, byteOffset }: Buffer, length: number, pointerBytes: number) {
  if (pointerBytes === 8) {
    const wide = new BigUint64Array(buffer, byteOffset, length);
    return (index: number, address: bigint) => {
      wide[index] = address;
    };
  }
  const narrow = new Uint32Array(buffer, byteOffset, length);
  return (index: number, address: bigint) => {
    narrow[index] = Number(address);
  };
}
