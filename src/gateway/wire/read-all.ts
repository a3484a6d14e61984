import { concatBytes } from '../../base/files/concat-bytes.ts';
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
  return concatBytes(chunks, length);
}
