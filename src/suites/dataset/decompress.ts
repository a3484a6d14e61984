import { createGunzip, type Gunzip } from 'node:zlib';

/**
 * Bytes that are not valid gzip, or end too early; what could be decompressed before them has been yielded.
 */
export class DecompressionError extends Error {}

/** Decompresses gzip. Throws DecompressionError after the last valid bytes, and what `source` throws. */
export async function* decompress(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let ready: Buffer[] = [];
  gunzip.on('data', (part: Buffer) => ready.push(part));
  const take = (): Buffer[] => ready.splice(0);
  try {
    // A stream that fails drops unread output, so each output is taken before the next input is written.
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length && !gunzip.readableEnded; at += stepBytes) {
        const fault = await feed(gunzip, chunk.subarray(at, at + stepBytes));
        yield* take();
        if (fault !== undefined) throw fault;
      }
    }
    const fault = gunzip.readableEnded ? undefined : await feed(gunzip, undefined);
    yield* take();
    if (fault !== undefined) throw fault;
  } finally {
    ready = [];
    gunzip.destroy();
  }
}

/** Decompresses what begins as gzip does, whatever its name is: who sends it may have unpacked it. */
export async function* decompressPacked(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < gzipMark.length) {
    const next = await source.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const all = async function* (): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head;
    yield* source;
  };
  yield* isPacked(head) ? decompress(all()) : all();
}

/** Whether bytes begin as gzip does. Source: RFC 1952, 2.3.1. */
export function isPacked(head: Buffer): boolean {
  return head.subarray(0, gzipMark.length).equals(gzipMark);
}

const gzipMark = Buffer.from([0x1f, 0x8b]);

/** Small, since compressed bytes may grow a thousandfold. */
const stepBytes = 16 * 1024;

/** Writes a part, or ends the stream without one; resolves to the error if that failed. */
async function feed(gunzip: Gunzip, part: Buffer | undefined): Promise<DecompressionError | undefined> {
  const failure = await new Promise<Error | undefined>((resolve) => {
    const finish = (error?: Error | null): void => {
      gunzip.off('end', finish).off('error', finish);
      resolve(error ?? undefined);
    };
    // After the end of the gzip data the callback of `write` is never called, so `end` resolves, too.
    gunzip.once('end', finish).once('error', finish);
    if (part === undefined) gunzip.end();
    else gunzip.write(part, finish);
  });
  return failure && new DecompressionError(reasonOf(failure), { cause: failure });
}

function reasonOf(failure: Error): string {
  if ('code' in failure && failure.code === 'Z_BUF_ERROR') return 'the packed data breaks off';
  return `the packed data is not valid gzip: ${failure.message}`;
}
