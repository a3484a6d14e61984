import { createGunzip, type Gunzip } from 'node:zlib';

/** Packed bytes break off, or are no packed bytes: what stood before has been given, and nothing comes behind. */
export class PackedFault extends Error {}

/** Unpacks gzip. Throws PackedFault behind the last bytes that could be unpacked, and what `source` throws. */
export async function* unpack(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let ready: Buffer[] = [];
  gunzip.on('data', (part: Buffer) => ready.push(part));
  const take = (): Buffer[] => ready.splice(0);
  try {
    // A stream that fails forgets what nobody has read yet, so each part is taken before the next one goes in.
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

/** Packed bytes may grow a thousandfold. */
const stepBytes = 16 * 1024;

/** Resolves when the part, or the end, has been worked off: to what is wrong with it, if anything is. */
async function feed(gunzip: Gunzip, part: Buffer | undefined): Promise<PackedFault | undefined> {
  const failure = await new Promise<Error | undefined>((resolve) => {
    const settle = (error?: Error | null): void => {
      gunzip.off('end', settle).off('error', settle);
      resolve(error ?? undefined);
    };
    // Behind the end of the packed bytes it takes nothing more, and never says so of the part.
    gunzip.once('end', settle).once('error', settle);
    if (part === undefined) gunzip.end();
    else gunzip.write(part, settle);
  });
  return failure && new PackedFault(reasonOf(failure), { cause: failure });
}

function reasonOf(failure: Error): string {
  if ('code' in failure && failure.code === 'Z_BUF_ERROR') return 'the packed data breaks off';
  return `the packed data is not valid gzip: ${failure.message}`;
}
