/** The chunks as one; a single one is not copied. `length` is that of all, where it is known. */
export function concatBytes<Bytes extends Uint8Array>(
  chunks: readonly Bytes[],
  length?: number,
): Bytes | Buffer<ArrayBuffer> {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, length);
}
