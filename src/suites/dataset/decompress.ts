import { createGunzip, type Gunzip } from 'node:zlib';

/** The bytes are invalid gzip or end too early. All data before the fault was yielded. */
export class DecompressionError extends Error {}

/** Decompresses gzip. Throws DecompressionError after the last valid bytes. Rethrows errors from `source`. */
export async function* decompress(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let ready: Buffer[] = [];
  gunzip.on('data', (part: Buffer) => ready.push(part));
  const take = (): Buffer[] => ready.splice(0);
  try {
    // A failing stream drops unread output, so each output is read before the next input is written.
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

/** Decompresses data with a gzip header and passes other data through. A server may have decompressed it already. */
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

export function isPacked(head: Buffer): boolean {
  return head.subarray(0, gzipMark.length).equals(gzipMark);
}

const gzipMark = Buffer.from([0x1f, 0x8b]);

/** Small, because compressed bytes may expand a thousandfold. */
const stepBytes = 16 * 1024;

async function feed(gunzip: Gunzip, part: Buffer | undefined): Promise<DecompressionError | undefined> {
  const failure = await new Promise<Error | undefined>((resolve) => {
    const finish = (error?: Error | null): void => {
      gunzip.off('end', finish).off('error', finish);
      resolve(error ?? undefined);
    };
    // After the end of the gzip data, the callback of `write` is never called, so `end` resolves too.
    gunzip.once('end', finish).once('error', finish);
    if (part === undefined) gunzip.end();
    else gunzip.write(part, finish);
  });
  return failure && new DecompressionError(reasonOf(failure), { cause: failure });
}

function reasonOf(failure: Error): string {
  if ('code' in failure && failure.code === 'Z_BUF_ERROR') return 'the compressed data ends too early';
  return `the compressed data is not valid gzip: ${failure.message}`;
}
