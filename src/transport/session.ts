import type { Binding } from '../binding/binding.ts';
import { type ErrorCode, RuntimeError, type RuntimeErrorOptions } from '../errors.ts';
import { findId } from './find-id.ts';
import { createForgotten } from './forgotten.ts';
import { encodeRequest, type Line, readLine } from './jsonrpc.ts';
import { createOutbox } from './outbox.ts';
import type { ProcessContext, WatchedProcess } from './process.ts';
import { createLineSplitter } from './read.ts';
import { exitError, watchEnd } from './session-end.ts';
import type { Message, RpcReply } from './transport.ts';

/** A request that is on its way. */
export interface InFlight {
  /** Rejects with REPLY_MALFORMED, OUTPUT_LIMIT or SERVER_EXIT. */
  readonly reply: Promise<RpcReply>;
  /** Stops waiting: bytes not yet begun are not sent, and a late reply is dropped. Returns a hint, if any. */
  forget(): string | undefined;
}

/** One life of a server process: many requests at once, matched by id. */
export interface Session {
  readonly process: WatchedProcess;
  /** Settles when no more replies can come and everything in flight has failed. */
  readonly over: Promise<void>;
  /** Throws SERVER_BUSY when too much is unsent, SERVER_EXIT when the session is over. */
  request(message: Message): InFlight;
  /** Ends stdin, which asks the process to end by itself. */
  end(): void;
}

interface Waiting {
  readonly resolve: (reply: RpcReply) => void;
  readonly reject: (error: RuntimeError) => void;
  sawNoise: boolean;
}

/** Speaks JSON-RPC with a started process until it ends. `onGoodReply` is told of every usable reply. */
export function openSession(
  binding: Binding,
  context: ProcessContext,
  started: { readonly process: WatchedProcess; readonly onGoodReply: () => void },
): Session {
  const { process: child } = started;
  const { name } = binding;
  const inFlight = new Map<number, Waiting>();
  const forgotten = createForgotten();
  let lastId = 0;
  let warnedVersion = false;
  let stopping = false;
  let exit: RuntimeError | undefined;
  const outbox = child.stdin && createOutbox(child.stdin);

  const drop = (what: 'noise' | 'late reply' | 'unknown reply' | 'server request', detail: string) => {
    context.emit({ type: 'dropped', name, what, detail });
  };
  const fail = (id: number, code: ErrorCode, why: string, options?: RuntimeErrorOptions) => {
    const waiting = inFlight.get(id);
    if (waiting === undefined) return false;
    inFlight.delete(id);
    waiting.reject(new RuntimeError(code, `"${name}": ${why}`, options));
    return true;
  };
  const unexpected = (id: number) => {
    if (forgotten.take(id)) drop('late reply', `the reply to request ${id} came after its time`);
    else if (id >= 1 && id <= lastId)
      drop('late reply', `nobody waits for a reply to request ${id} any more`);
    else drop('unknown reply', `there never was a request ${id}`);
  };
  const noise = (why: string, bytes: Uint8Array) => {
    for (const waiting of inFlight.values()) waiting.sawNoise = true;
    drop('noise', `${why}: ${Buffer.from(bytes).toString('utf8', 0, 200)}`);
  };

  const onAnonymous = (bytes: Uint8Array) => {
    const [only] = inFlight.keys();
    const isClear = inFlight.size === 1 && forgotten.isEmpty && only !== undefined;
    if (isClear)
      fail(only, 'REPLY_MALFORMED', 'the reply has no id', { hint: 'Send the id of the request back.' });
    else noise('a reply without an id', bytes);
  };
  const onReply = (line: Extract<Line, { kind: 'reply' }>) => {
    const waiting = inFlight.get(line.id);
    if (waiting === undefined) {
      unexpected(line.id);
      return;
    }
    inFlight.delete(line.id);
    if (!line.versioned && !warnedVersion) {
      warnedVersion = true;
      context.emit({ type: 'note', name, level: 'warn', message: 'its replies lack "jsonrpc": "2.0"' });
    }
    started.onGoodReply();
    waiting.resolve(line.error ? { via: 'rpc', error: line.error } : { via: 'rpc', ...pick(line) });
  };
  const onLine = (bytes: Uint8Array) => {
    const line = readLine(bytes);
    switch (line.kind) {
      case 'reply':
        return onReply(line);
      case 'noise':
        return noise(line.why, bytes);
      case 'request':
        return drop('server request', `nothing here answers ${line.method}`);
      case 'anonymous':
        return onAnonymous(bytes);
      case 'malformed':
        if (!fail(line.id, 'REPLY_MALFORMED', line.why, toOptions(line))) unexpected(line.id);
        return;
      case 'batch': {
        const failed = line.ids.filter((id) =>
          fail(id, 'REPLY_MALFORMED', 'batches of replies are not read'),
        );
        if (failed.length === 0) noise('a JSON array', bytes);
        return;
      }
    }
  };
  const onLongLine = (prefix: Uint8Array) => {
    const why = `a reply is longer than ${binding.maxOutputBytes} bytes`;
    const id = findId(prefix);
    if (id === undefined) for (const each of [...inFlight.keys()]) fail(each, 'OUTPUT_LIMIT', why);
    else if (!fail(id, 'OUTPUT_LIMIT', why)) unexpected(id);
  };

  const lines = createLineSplitter(
    { maxBytes: binding.maxOutputBytes, prefixBytes: LONG_LINE_PREFIX },
    { onLine: withoutMark(onLine), onLongLine },
  );
  child.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
  const over = watchEnd(binding, child, () => stopping).then((ended) => {
    lines.end();
    exit = exitError(name, ended, child.stderr());
    for (const waiting of inFlight.values()) waiting.reject(exit);
    inFlight.clear();
    child.release();
  });

  return {
    process: child,
    over,
    end: () => {
      stopping = true;
      child.stdin?.end();
    },
    request: (message) => {
      if (exit !== undefined) throw exit;
      if (outbox === null) throw new RuntimeError('INTERNAL', `"${name}" was started without a stdin`);
      if (outbox.pendingBytes > binding.maxOutputBytes) {
        throw new RuntimeError(
          'SERVER_BUSY',
          `"${name}" has not read ${outbox.pendingBytes} bytes of earlier requests`,
        );
      }
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<RpcReply>();
      promise.catch(() => {});
      const waiting: Waiting = { resolve, reject, sawNoise: false };
      inFlight.set(id, waiting);
      const withdraw = outbox.send(encodeRequest(id, message.method, message.body));
      return {
        reply: promise,
        forget: () => {
          withdraw();
          if (inFlight.delete(id)) forgotten.add(id);
          return waiting.sawNoise ? noiseHint : undefined;
        },
      };
    },
  };
}

const LONG_LINE_PREFIX = 4096;
const noiseHint =
  'The process wrote lines that are no JSON objects meanwhile; a reply must stand on one line, and logs belong on stderr.';

function toOptions({ hint, text }: Extract<Line, { kind: 'malformed' }>): RuntimeErrorOptions {
  return { hint, details: text === undefined ? undefined : { text } };
}

function pick(line: Extract<Line, { kind: 'reply' }>): Pick<RpcReply, 'result'> {
  return line.result === undefined ? {} : { result: line.result };
}

/** Drops a byte order mark at the start of the stream. */
function withoutMark(onLine: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
  let first = true;
  return (bytes) => {
    const marked = first && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    first = false;
    onLine(marked ? bytes.subarray(3) : bytes);
  };
}
