import pRetry from 'p-retry';
import { RuntimeError } from '../../../base/errors.ts';
import { startTimer, type Timer } from '../../../base/time/deadline.ts';
import { remoteName, whyUnusable } from './address.ts';
import { requestBytes, TransientFault, unreadable, whyNotReached } from './request.ts';

/** What is known of the bytes behind an address before they are read. */
export interface RemoteFacts {
  /** In bytes; null where the server does not tell. */
  readonly size: number | null;
  /** The entity tag, or the time of the last change; another one is another text. */
  readonly version: string | null;
  /** Whether the server gives bytes from the middle, as they are. */
  readonly hasRanges: boolean;
}

/** Looks at the first bytes behind an address. Throws FILE_UNREADABLE, and what the signal is aborted with. */
export async function lookAtRemote(
  path: string,
  signal: AbortSignal,
): Promise<RemoteFacts & { readonly head: Buffer }> {
  const parts: Buffer[] = [];
  const opened = await openPart(path, { start: 0, end: HEAD_BYTES, silenceMs: SILENCE_MS }, signal);
  try {
    for await (const part of opened.parts) {
      parts.push(part);
      if (Buffer.concat(parts).length >= HEAD_BYTES) break;
    }
  } catch (thrown) {
    if (!(thrown instanceof TransientFault)) throw thrown;
    // Reading tells what is wrong with it.
  } finally {
    await opened.close();
  }
  return { ...opened.facts, head: Buffer.concat(parts).subarray(0, HEAD_BYTES) };
}

const HEAD_BYTES = 4;

export interface RemoteRange {
  readonly start: number;
  readonly end?: number | undefined;
  /** Of the text that is expected; undefined: any. */
  readonly version?: string | undefined;
  /** How long a server may be silent, in milliseconds. Default: a minute. */
  readonly silenceMs?: number;
}

/**
 * Bytes behind an address. A connection that breaks, falls silent for a minute or is refused for the moment is opened again where
 * the bytes broke off, as often as it brings some, and five times where it brings none. Throws FILE_UNREADABLE, DATASET_INVALID for
 * a text that changed meanwhile, and what the signal is aborted with.
 */
export async function* readRemote(
  path: string,
  { start, end, version, silenceMs = SILENCE_MS }: RemoteRange,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let at = start;
  let expected = version;
  for (;;) {
    const { facts, parts, close } = await openPart(path, { start: at, end, silenceMs }, signal);
    try {
      if (expected !== undefined && facts.version !== expected) throw changed(path);
      expected ??= facts.version ?? undefined;
      if (!facts.hasRanges && (at > 0 || end !== undefined)) throw withoutRanges(path, at - start);
      for await (const part of parts) {
        at += part.length;
        yield part;
      }
    } catch (thrown) {
      if (!(thrown instanceof TransientFault)) throw thrown;
      continue;
    } finally {
      await close();
    }
    const whole = end ?? facts.size;
    if (whole === null || !facts.hasRanges || at >= whole) return;
  }
}

function withoutRanges(path: string, bytes: number): RuntimeError {
  const broken = bytes === 0 ? '' : `broke off after ${bytes} bytes, and `;
  return unreadable(
    path,
    `${broken}is given by its server as a whole only`,
    'Copy it to a file, and give its name.',
  );
}

/** Of a dataset that is not the one that was looked at before. */
function changed(file: string): RuntimeError {
  return new RuntimeError('DATASET_INVALID', `${remoteName(file)} was changed while it was read`, {
    hint: 'Leave the dataset as it is until the run has ended.',
  });
}

interface OpenPart {
  readonly facts: RemoteFacts;
  /** Throws TransientFault when it breaks off, and not before it has brought something. */
  readonly parts: AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

interface Part {
  readonly start: number;
  readonly end: number | undefined;
  readonly silenceMs: number;
}

async function openPart(path: string, range: Part, signal: AbortSignal): Promise<OpenPart> {
  const reason = whyUnusable(path);
  if (reason !== undefined) throw unreadable(path, reason);
  try {
    return await pRetry(() => openOnce(path, range, signal), {
      ...{ retries: 5, minTimeout: 500, factor: 2, randomize: true, signal },
      shouldRetry: ({ error }) => error instanceof TransientFault,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof TransientFault)) throw thrown;
    throw new RuntimeError('FILE_UNREADABLE', thrown.message, { cause: thrown });
  }
}

async function openOnce(path: string, range: Part, signal: AbortSignal): Promise<OpenPart> {
  const silence = watchSilence(range.silenceMs, signal);
  try {
    const response = await requestBytes(path, range, silence.signal);
    silence.timer.restart();
    const facts = factsOf(response);
    const body = readBody(path, response, silence, signal);
    const close = async () => void (await body.return(undefined));
    if (response.status === 416) {
      // Nothing is behind the end; of an empty text, that is all.
      await response.body?.cancel();
      if (facts.size !== 0) throw changed(path);
      silence.timer.clear();
      return { facts, parts: noParts(), close };
    }
    if (!beginsAt(response, range.start))
      throw unreadable(path, 'is given by its server from another place than was asked for');
    const first = await body.next();
    if (first.done === true && facts.hasRanges)
      throw new TransientFault(`${remoteName(path)} is given without any bytes`);
    return { facts, parts: resumed(first, body), close };
  } catch (thrown) {
    silence.timer.clear();
    signal.throwIfAborted();
    throw silence.signal.aborted ? new TransientFault(`${remoteName(path)} ${silence.reason}`) : thrown;
  }
}

const SILENCE_MS = 60_000;

interface Silence {
  readonly signal: AbortSignal;
  readonly timer: Timer;
  /** To stand after the name of what was read. */
  readonly reason: string;
}

function watchSilence(silenceMs: number, signal: AbortSignal): Silence {
  const ending = new AbortController();
  const timer = startTimer({ timeoutMs: silenceMs, signal }, () => ending.abort());
  const reason = `cannot be read: its server was silent for ${silenceMs / 1_000} seconds`;
  return { signal: ending.signal, timer, reason };
}

async function* noParts(): AsyncGenerator<Buffer> {}

async function* resumed(
  first: IteratorResult<Buffer, unknown>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

async function* readBody(
  path: string,
  response: Response,
  silence: Silence,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    for await (const part of response.body ?? []) {
      // Whoever takes the part may take all the time there is.
      silence.timer.pause();
      yield Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      silence.timer.restart();
    }
  } catch (cause) {
    signal.throwIfAborted();
    const reason = silence.signal.aborted ? silence.reason : `broke off: ${whyNotReached(cause)}`;
    throw new TransientFault(`${remoteName(path)} ${reason}`, { cause });
  } finally {
    silence.timer.clear();
  }
}

/** A whole text begins at its beginning. */
function beginsAt({ status, headers }: Response, start: number): boolean {
  return status !== 206 || Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1]) === start;
}

function factsOf({ status, headers }: Response): RemoteFacts {
  const isEncoded = (headers.get('content-encoding') ?? 'identity') !== 'identity';
  const total = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1];
  const length = status === 200 && !isEncoded ? headers.get('content-length') : null;
  const size = total ?? length;
  return {
    size: size === null ? null : Number(size),
    version: headers.get('etag') ?? headers.get('last-modified'),
    hasRanges: status !== 200 && !isEncoded,
  };
}
