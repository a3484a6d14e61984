import type { Sink } from '../../suites/report/reporter.ts';

/**
 * A body that is written while it is read, no faster than its reader takes it: of a page of any size only the part that is under
 * way is in memory. Resolves with its first part, and rejects with what `produce` throws before; what it throws later cuts the body.
 */
export async function streamPage(
  produce: (sink: Sink) => Promise<void>,
): Promise<ReadableStream<Uint8Array>> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const begun = Promise.withResolvers<void>();
  let waiting = '';
  const flush = async (): Promise<void> => {
    const part = encoder.encode(waiting);
    waiting = '';
    begun.resolve();
    // Rejects when the reader has gone.
    await writer.write(part);
  };
  const write = async (text: string): Promise<void> => {
    waiting += text;
    if (waiting.length >= PART) await flush();
  };
  const work = async (): Promise<void> => {
    await produce({ hasColour: false, columns: undefined, write });
    await flush();
    await writer.close();
  };
  const whole = work();
  whole.catch(async (thrown: unknown) => await writer.abort(thrown).catch(() => {}));
  writer.closed.catch(() => {});
  await Promise.race([begun.promise, whole]);
  return readable;
}

/** Characters that are sent together. */
const PART = 64 * 1024;
