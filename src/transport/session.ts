import type { Binding } from '../binding/binding.ts';
import { type ErrorCode, RuntimeError, type RuntimeErrorOptions } from '../errors.ts';
import { settlesWithin } from './deadline.ts';
import { encodeRequest, findId, type Line, readLine } from './jsonrpc.ts';
import type { Ended } from './launch/launch.ts';
import { createOutbox } from './outbox.ts';
import type { ProcessContext, WatchedProcess } from './process.ts';
import { createLineSplitter, whenClosed } from './read.ts';
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
  /** Throws SERVER_BUSY when too much is unsent. */
  request(message: Message): InFlight;
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
  /** Ids that were given up unanswered: their late replies are no surprise. */
  const forgotten = new Set<number>();
  let lastId = 0;
  let warnedVersion = false;
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
    if (forgotten.delete(id)) drop('late reply', `the reply to request ${id} came after its time`);
    else if (id >= 1 && id <= lastId) drop('late reply', `request ${id} was answered before`);
    else drop('unknown reply', `there never was a request ${id}`);
  };
  const noise = (why: string, bytes: Uint8Array) => {
    for (const waiting of inFlight.values()) waiting.sawNoise = true;
    drop('noise', `${why}: ${Buffer.from(bytes).toString('utf8', 0, 200)}`);
  };

  const onAnonymous = (bytes: Uint8Array) => {
    const [only] = inFlight.keys();
    const isClear = inFlight.size === 1 && forgotten.size === 0 && only !== undefined;
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
        if (!fail(line.id, 'REPLY_MALFORMED', line.why, line.hint === undefined ? {} : { hint: line.hint })) {
          unexpected(line.id);
        }
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
  const over = watchEnd(binding, child).then((ended) => {
    lines.end();
    const error = exitError(name, ended, child.stderr());
    for (const waiting of inFlight.values()) waiting.reject(error);
    inFlight.clear();
    child.release();
  });

  return {
    process: child,
    over,
    request: (message) => {
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

/** Waits for the end of the process, or of its stdout: a process that closed its stdout is of no more use. */
async function watchEnd(binding: Binding, child: WatchedProcess): Promise<Ended> {
  const closed = whenClosed(child.stdout);
  const first = await Promise.race([child.ended.then(() => 'ended'), closed.then(() => 'closed')]);
  const outputs = Promise.all([child.ended, closed, child.stderrClosed]);
  // After a closed stdout the exit follows at once or not at all; after an exit, outputs may be held for long.
  await settlesWithin(
    first === 'closed' ? child.ended : outputs,
    first === 'closed' ? EXIT_FOLLOWS_MS : binding.drainMs,
  );
  const lives = !(await settlesWithin(child.ended, 0));
  if (lives || binding.leftovers === 'kill') child.killGroup();
  return await child.ended;
}

const EXIT_FOLLOWS_MS = 100;

function exitError(name: string, ended: Ended, stderr: string): RuntimeError {
  const how =
    ended.signal === null ? `ended with exit code ${ended.exitCode}` : `was ended by ${ended.signal}`;
  const lastLine = stderr.trim().split('\n').at(-1)?.trim().slice(0, 500) ?? '';
  const message = `the server "${name}" ${how} while the request was in flight${lastLine === '' ? '' : `: ${lastLine}`}`;
  return new RuntimeError('SERVER_EXIT', message, { details: { ...ended, stderr } });
}
