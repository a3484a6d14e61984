import type { RefusedCall } from './refusal.ts';

/** All bytes of a body. Throws what `tooLarge` gives as soon as there are more than `maxBytes`. */
export async function readAll(
  body: AsyncIterable<Uint8Array> | readonly never[],
  maxBytes: number,
  tooLarge: () => RefusedCall,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return joinChunks(chunks, length);
}

/** The chunks as one; a single one is not copied. */
export function joinChunks(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, length);
}
