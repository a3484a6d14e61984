import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { findDifference } from '../../base/json/equal.ts';
import { isObject, parseLossless } from '../../base/json/json.ts';
import { sharedPrefixLength } from '../../base/text/phrases.ts';
import { abortedError } from '../../base/time/deadline.ts';
import { type QueueClock, type Stopwatch, startStopwatch, wholeMs } from '../../base/time/stopwatch.ts';
import type { Emit } from '../../contract/event.ts';
import type { Redact } from '../../contract/scrub.ts';
import { closedError } from '../oneshot.ts';
import type { Message, Reply, Transport } from '../transport.ts';
import {
  describeRequest,
  digestRequest,
  type Entry,
  entryKey,
  faultToStored,
  openToRead,
  outcomeFromStored,
  type RecordedRequest,
  readBlob,
  replyToStored,
  type StoredOutcome,
  scanCassette,
  textToBlob,
  unreadableError,
} from './format.ts';
import { type ByteRange, readerOf, readRange } from './lines.ts';
import { openRecordingWriter, type RecordingWriter } from './recording-writer.ts';
import { createOffsetTable, createReplayQueues, type ReplayQueues, shortDigest } from './replay-queues.ts';
import { withoutVolatileFields } from './volatile-fields.ts';

export interface CassetteOptions {
  readonly record?: string | undefined;
  readonly replay?: string | undefined;
  /** Entries and providers that are called despite `replay`. */
  readonly live?: readonly string[] | undefined;
}

interface CassetteContext extends ExchangeRecorderContext {
  readonly names: readonly string[];
}

export interface Cassette {
  /** Replay never calls `open`. Misses of an entry that is only notified do not count. */
  wrap(binding: Entry, open: () => Transport, isToldOnly?: boolean): Transport;
  isLive(name: string): boolean;
  readonly redact: Redact;
  readonly onMiss: () => void;
  misses(): number;
  /** Resolves once all recorded exchanges are written; to FILE_UNREADABLE if that failed. Never rejects. */
  findRecordingFault(): Promise<Error | undefined>;
  close(): Promise<void>;
}

/** Throws FILE_UNREADABLE; NAME_UNKNOWN if `live` names no entry; USAGE if options contradict. */
export async function openCassette(options: CassetteOptions, context: CassetteContext): Promise<Cassette> {
  const { record, replay, live = [] } = options;
  await validateOptions(options, context.names);
  const index = replay === undefined ? undefined : await openCassetteIndex(replay);
  const recorder = await openOptionalRecorder(record, context, async () => index?.close());
  let misses = 0;
  const onMiss = () => {
    misses += 1;
  };
  const isLive = (name: string) => live.includes(name);
  const { redact } = context;
  return {
    wrap: (binding, open, isNotifyOnly = false) => {
      const source =
        index === undefined || isLive(binding.name)
          ? open()
          : createReplayTransport(binding, {
              index,
              redact,
              onMiss: isNotifyOnly ? () => {} : onMiss,
            });
      return recorder?.wrap(binding, source) ?? source;
    },
    isLive,
    redact,
    onMiss,
    misses: () => misses,
    findRecordingFault: async () => await recorder?.findFault(),
    close: async () => {
      await Promise.all([recorder?.close(), index?.close()]);
    },
  };
}

async function validateOptions(
  { record, replay, live = [] }: CassetteOptions,
  names: readonly string[],
): Promise<void> {
  if (replay === undefined && live.length > 0) {
    throw new RuntimeError('USAGE', 'without a replay everything is live already', {
      hint: 'Name a cassette with --replay FILE, or remove --live.',
    });
  }
  const unknownName = live.find((name) => !names.includes(name));
  if (unknownName !== undefined) {
    throw new RuntimeError('NAME_UNKNOWN', `there is no entry "${unknownName}" to run live`, {
      hint: `known entries: ${names.join(', ')}`,
    });
  }
  if (record !== undefined && replay !== undefined && (await isSameFile(record, replay))) {
    throw new RuntimeError('USAGE', `the cassette ${record} cannot be recorded while it is replayed`, {
      hint: 'Record into another file.',
    });
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [left, right] = [await statOf(one), await statOf(other)];
  return left !== undefined && left.dev === right?.dev && left.ino === right.ino;
}

async function statOf(file: string): Promise<Stats | undefined> {
  return await stat(file).catch(() => undefined);
}

async function openOptionalRecorder(
  file: string | undefined,
  context: ExchangeRecorderContext,
  onFailure: () => Promise<void> | undefined,
): Promise<ExchangeRecorder | undefined> {
  if (file === undefined) return undefined;
  try {
    return await openExchangeRecorder(file, context);
  } catch (thrown) {
    await onFailure();
    throw thrown;
  }
}

interface ReplayTransportContext {
  readonly index: CassetteIndex;
  readonly redact: Redact;
  readonly onMiss: () => void;
}

function createReplayTransport(binding: Entry, context: ReplayTransportContext): Transport {
  let isClosed = false;
  const throwIfEnded = (signal: AbortSignal | undefined) => {
    if (isClosed) throw closedError(binding.name);
    if (signal?.aborted) throw abortedError(binding.name, signal);
  };
  return {
    exchange: async (message, signal) => {
      throwIfEnded(signal);
      const reply = await answer(binding, message, context);
      if (signal?.aborted) throw abortedError(binding.name, signal);
      return reply;
    },
    ...(binding.mode === 'server' && { notify: async (_, signal) => throwIfEnded(signal) }),
    warm: () => {},
    close: async () => {
      isClosed = true;
    },
  };
}

async function answer(
  binding: Entry,
  message: Message,
  { index, redact, onMiss }: ReplayTransportContext,
): Promise<Reply> {
  const request = describeRequest(binding, message, redact);
  const key = digestRequest(request);
  const line = await index.take(key);
  if (line === undefined) {
    onMiss();
    throw await explainMiss(request, index);
  }
  const reply = await outcomeFromStored(line, index.readBlob);
  if (reply !== undefined) return reply;
  throw new RuntimeError('FILE_UNREADABLE', `the cassette’s exchange ${key} has no reply`);
}

async function explainMiss(request: RecordedRequest, index: CassetteIndex): Promise<RuntimeError> {
  const { capability, name } = request;
  const reason = await explainReason(request, index);
  return new RuntimeError(
    'REPLAY_MISS',
    `the cassette has no reply to this request of ${capability} "${name}": ${reason}`,
    { hint: `Record again with \`--record FILE\`, or let it run for real with \`--live ${name}\`.` },
  );
}

async function explainReason(request: RecordedRequest, library: CassetteIndex): Promise<string> {
  const same = library.count(digestRequest(request));
  if (same > 0) return `it was recorded ${times(same)}, and each recorded reply is used once`;
  const { count } = library.entry(request);
  if (count === 0) return 'none of its exchanges is recorded';
  const recorded = count === 1 ? 'its one recorded exchange is' : `all ${count} of its exchanges are`;
  return `${recorded} for other requests${await describeNearest(request, library)}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Returns the end of a sentence: where the request first differs from the most similar one. */
async function describeNearest(request: RecordedRequest, library: CassetteIndex): Promise<string> {
  const requested = withoutVolatileFields(request.body, request.volatileFields);
  let nearest = { shared: -1, body: '', about: '' };
  for (const place of library.entry(request).first) {
    const line = await library.read(place);
    const body = withoutVolatileFields(
      (await library.readBlob(String(line['body']))).toString('utf8'),
      request.volatileFields,
    );
    const shared = sharedPrefixLength(requested, body);
    if (shared > nearest.shared) nearest = { shared, body, about: summarize(line) };
  }
  const about = summarize(request);
  if (nearest.about !== about) return `; the recording has ${nearest.about}, the request is ${about}`;
  const path = findDifference(parse(requested), parse(nearest.body));
  return path === undefined ? '' : `; the nearest request differs at ${path === '' ? 'its beginning' : path}`;
}

function summarize({ dialect, mode, method, env }: RequestSummary): string {
  const variables = isObject(env) ? Object.entries(env).map(([key, value]) => `${key}=${value ?? ''}`) : [];
  return [dialect, mode, method, ...variables].join(', ');
}

interface RequestSummary {
  readonly dialect?: unknown;
  readonly mode?: unknown;
  readonly method?: unknown;
  readonly env?: unknown;
}

function parse(body: string): unknown {
  try {
    return parseLossless(body);
  } catch {
    return body;
  }
}

type LineMembers = Readonly<Record<string, unknown>>;

interface CassetteIndex extends Pick<ReplayQueues, 'count'> {
  /** Returns the next exchange of that key, in the order in which they began. Each is returned once. */
  take(key: string): Promise<LineMembers | undefined>;
  entry(entry: Pick<Entry, 'capability' | 'name'>): ReturnType<ReplayQueues['group']>;
  read(place: ByteRange): Promise<LineMembers>;
  readBlob(id: string): Promise<Buffer>;
  close(): Promise<void>;
}

/** Rejects with FILE_UNREADABLE, as all methods of the index do. */
export async function openCassetteIndex(file: string): Promise<CassetteIndex> {
  const handle = await openToRead(file);
  const offsets = createOffsetTable();
  const blobs = new Map<string, number>();
  const queues = createReplayQueues(MAX_COMPARED);
  try {
    await scanCassette(handle, file, {
      onBlob: (id, place) => blobs.set(shortDigest(id), offsets.add(place)),
      onExchange: queues.add,
    });
  } catch (thrown) {
    await handle.close();
    throw thrown instanceof RuntimeError ? thrown : unreadableError(file, thrown);
  }
  const read = async (place: ByteRange): Promise<LineMembers> => {
    try {
      const value: unknown = JSON.parse((await readRange(readerOf(handle), place)).toString('utf8'));
      if (isObject(value)) return value;
    } catch (thrown) {
      throw unreadableError(file, thrown);
    }
    throw unreadableError(file, new Error('it has changed'));
  };
  return {
    take: async (key) => {
      const place = queues.take(key);
      return place && (await read(place));
    },
    count: queues.count,
    entry: (entry) => queues.group(entryKey(entry)),
    read,
    readBlob: async (id) => {
      const place = blobs.get(shortDigest(id));
      const bytes = place === undefined ? undefined : readBlob(await read(offsets.get(place)));
      if (bytes === undefined) throw unreadableError(file, new Error(`it has no blob ${id}`));
      return bytes;
    },
    close: async () => {
      await handle.close().catch(() => {});
    },
  };
}

const MAX_COMPARED = 100;

interface ExchangeRecorder {
  /** Does not record aborted exchanges. After a write error, exchanges reject with FILE_UNREADABLE. */
  wrap(binding: Entry, transport: Transport): Transport;
  /** Resolves once all exchanges are written; to FILE_UNREADABLE if that failed. Never rejects. */
  findFault(): Promise<Error | undefined>;
  close(): Promise<void>;
}

interface ExchangeRecorderContext {
  readonly redact: Redact;
  readonly emit: Emit;
}

/** A new cassette is readable by its owner only. Throws FILE_UNREADABLE. */
async function openExchangeRecorder(
  file: string,
  { redact, emit }: ExchangeRecorderContext,
): Promise<ExchangeRecorder> {
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
    wrap: (binding, { ask: _, ...transport }) => ({
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

function isCallerEnded({ code }: RuntimeError): boolean {
  return code === 'ABORTED' || code === 'RUNTIME_CLOSED';
}
