import { randomUUID } from 'node:crypto';
import type { Emit } from '../contract/event.ts';
import { type RuntimeError, toRuntimeError } from '../errors.ts';
import { type Stopwatch, startStopwatch, wholeMs } from '../time/stopwatch.ts';
import type { Message, Reply, Transport } from '../transport/transport.ts';
import { openToAppend } from './append.ts';
import { textToBlob } from './blob.ts';
import { scanCassette } from './contents.ts';
import { faultToStored, replyToStored, type StoredOutcome } from './outcome.ts';
import { describeRequest, digestRequest, type Entry, type Redact } from './request.ts';
import { createLineWriter } from './writer.ts';

/** Writes down what entries are asked and how each exchange ended. */
export interface Recorder {
  /**
   * The transport, with every exchange written down; one that its caller gives up is not. Once the file could not be
   * written, nothing is asked any more and exchanges reject with FILE_UNREADABLE.
   */
  wrap(binding: Entry, transport: Transport): Transport;
  /** Writes what is left and lets the file go. Never rejects. */
  close(): Promise<void>;
}

export interface RecorderContext {
  readonly redact: Redact;
  readonly emit: Emit;
}

/** Opens a cassette to add to it, or begins one that its owner alone may read. Throws FILE_UNREADABLE. */
export async function openRecorder(file: string, { redact, emit }: RecorderContext): Promise<Recorder> {
  /** What need not be written again. */
  const kept = new Set<string>();
  const handle = await openToAppend(file, async (opened) => {
    if (!(await opened.stat()).isFile()) return;
    await scanCassette(opened, file, { onBlob: (id) => kept.add(id) });
  });
  const writer = createLineWriter(handle, file, ({ message }) =>
    emit({ type: 'note', name: 'cassette', level: 'warn', message }),
  );
  const recorder = randomUUID();
  let exchanges = 0;

  const write = async ({ binding, message, number, watch }: Asked, outcome: StoredOutcome) => {
    const request = describeRequest(binding, message, redact);
    const { capability, name, dialect, mode, method, env } = request;
    const body = textToBlob(request.body);
    const line = JSON.stringify({
      exchange: 1,
      key: digestRequest(request),
      recorder,
      number,
      ...{ capability, name, dialect, mode, method },
      ...(env !== undefined && { env }),
      body: body.id,
      ...outcome.members,
      duration_ms: wholeMs(watch.read()).durationMs,
    });
    const fresh = [body, ...outcome.blobs].filter(({ id }) => !kept.has(id) && kept.add(id));
    await writer.write([...fresh.map((blob) => blob.line), line]);
  };
  const ask = async (binding: Entry, message: Message, exchange: () => Promise<Reply>) => {
    writer.throwIfFailed();
    exchanges += 1;
    const asked = { binding, message, number: exchanges, watch: startStopwatch() };
    const reply = await asked.watch.run(exchange).catch(async (thrown) => {
      const error = toRuntimeError(thrown);
      if (!isGivenUp(error)) await write(asked, faultToStored(error, redact));
      throw thrown;
    });
    await write(asked, replyToStored(reply, redact));
    return reply;
  };
  return {
    wrap: (binding, transport) => ({
      ...transport,
      exchange: (message, signal) => ask(binding, message, () => transport.exchange(message, signal)),
    }),
    close: () => writer.close(),
  };
}

interface Asked {
  readonly binding: Entry;
  readonly message: Message;
  /** In the order in which exchanges begin: they overlap, and end in another one. */
  readonly number: number;
  readonly watch: Stopwatch;
}

/** What a caller did is no answer. */
function isGivenUp({ code }: RuntimeError): boolean {
  return code === 'ABORTED' || code === 'RUNTIME_CLOSED';
}
