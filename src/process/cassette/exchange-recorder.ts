import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { type QueueClock, type Stopwatch, startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import type { Emit } from '../../contract/event.ts';
import type { Redact } from '../../contract/scrub.ts';
import type { Message, Reply, Transport } from '../transport.ts';
import { textToBlob } from './blob.ts';
import { describeRequest, digestRequest, type Entry } from './recorded-request.ts';
import { openRecordingWriter, type RecordingWriter } from './recording-writer.ts';
import { scanCassette } from './scan.ts';
import { faultToStored, replyToStored, type StoredOutcome } from './stored-outcome.ts';

/** Records the requests of entries and how each exchange ended. */
export interface ExchangeRecorder {
  /**
   * The transport with every exchange recorded, except those that their caller aborts. Once the file could
   * not be written, nothing is sent any more and exchanges reject with FILE_UNREADABLE.
   */
  wrap(binding: Entry, transport: Transport): Transport;
  /** Resolves when all exchanges so far are in the file, to why they are not: FILE_UNREADABLE. Never rejects. */
  findFault(): Promise<Error | undefined>;
  /** Writes pending lines and closes the file. Never rejects. */
  close(): Promise<void>;
}

export interface ExchangeRecorderContext {
  readonly redact: Redact;
  readonly emit: Emit;
}

/** Opens a cassette to add to it, or begins one that its owner alone may read. Throws FILE_UNREADABLE. */
export async function openExchangeRecorder(
  file: string,
  { redact, emit }: ExchangeRecorderContext,
): Promise<ExchangeRecorder> {
  /** The ids of the blobs that the file has already. */
  const writtenBlobs = new Set<string>();
  const writer = openRecordingWriter(file, {
    isDurable: false,
    inspect: async (opened) => {
      if (!(await opened.stat()).isFile()) return;
      await scanCassette(opened, file, { onBlob: (id) => writtenBlobs.add(id) });
    },
    onFailure: ({ message }) => emit({ type: 'note', name: 'cassette', level: 'warn', message }),
  });
  await writer.ready();
  const write = async ({ binding, message, id, watch }: StartedExchange, outcome: StoredOutcome) => {
    const request = describeRequest(binding, message, redact);
    const { capability, name, dialect, mode, method, env } = request;
    const body = textToBlob(request.body);
    const line = JSON.stringify({
      exchange: 1,
      key: digestRequest(request),
      ...id,
      ...{ capability, name, dialect, mode, method },
      ...(env !== undefined && { env }),
      body: body.id,
      ...outcome.members,
      duration_ms: wholeMs(watch.read()).durationMs,
    });
    const fresh = [body, ...outcome.blobs].filter(({ id }) => !writtenBlobs.has(id) && writtenBlobs.add(id));
    await writer.write([...fresh.map((blob) => blob.line), line]);
  };
  const recordExchange = async (
    {
      binding,
      message,
      clock,
    }: Pick<StartedExchange, 'binding' | 'message'> & { clock: QueueClock | undefined },
    exchange: (clock: QueueClock) => Promise<Reply>,
  ) => {
    const started = { binding, message, id: writer.begin(), watch: startStopwatch(clock) };
    const reply = await exchange(started.watch).catch(async (thrown) => {
      const error = toRuntimeError(thrown);
      if (!isCallerEnded(error)) await write(started, faultToStored(error, redact));
      throw thrown;
    });
    await write(started, replyToStored(reply, redact));
    return reply;
  };
  return {
    wrap: (binding, transport) => ({
      ...transport,
      exchange: (message, signal, clock) =>
        recordExchange({ binding, message, clock }, (watch) => transport.exchange(message, signal, watch)),
    }),
    findFault: () => writer.findFault(),
    close: () => writer.close(),
  };
}

interface StartedExchange {
  readonly binding: Entry;
  readonly message: Message;
  readonly id: ReturnType<RecordingWriter['begin']>;
  readonly watch: Stopwatch;
}

/** Whether the caller or `close` ended the exchange, so that there is no outcome to record. */
function isCallerEnded({ code }: RuntimeError): boolean {
  return code === 'ABORTED' || code === 'RUNTIME_CLOSED';
}
