import type { Output } from './launch/launch.ts';

/** The bytes of an output, up to a limit. */
export interface CollectedOutput {
  /** Settles at the end of the output, or once it is destroyed. Never rejects. */
  readonly done: Promise<void>;
  /** Whether `done` has settled. */
  readonly isDone: boolean;
  /** Settles when more bytes came than the limit; later ones are read and discarded. */
  readonly overflowed: Promise<void>;
  /** Everything so far; undefined once it is more than the limit. */
  bytes(): Uint8Array | undefined;
  /** How many bytes came so far, kept or not. */
  length(): number;
}

/** Reads an output to its end, keeping at most `maxBytes`. */
export function collect(output: Output, maxBytes: number): CollectedOutput {
  const chunks: Buffer[] = [];
  let length = 0;
  const overflowed = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  output.listen({
    onData: (chunk) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        overflowed.resolve();
      }
    },
    onClose: done.resolve,
  });
  return {
    done: done.promise,
    get isDone() {
      return output.isClosed;
    },
    overflowed: overflowed.promise,
    bytes: () => (length > maxBytes ? undefined : concatBytes(chunks)),
    length: () => length,
  };
}

function concatBytes(chunks: readonly Buffer[]): Uint8Array {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}
