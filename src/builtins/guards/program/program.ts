import type { Readable, Writable } from 'node:stream';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { isObject, parseLossless, stringifyJson } from '../../../base/json/json.ts';
import { readLines } from '../../../base/text/bytes.ts';

export interface Invocation {
  readonly argv: readonly string[];
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Prints one line for people; it never contains a finding's value. */
  readonly printError: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Answers requests from stdin on stdout: one object, or as a server one line per line. `open` throws USAGE for invalid
 * arguments. Resolves to the exit code.
 */
export async function runProgram(
  name: string,
  open: () => Answerer,
  { stdin, stdout, printError }: Omit<Invocation, 'argv' | 'env'>,
): Promise<0 | 1 | 2> {
  let answerer: Answerer;
  try {
    answerer = open();
  } catch (error) {
    const { message, hint } = toRuntimeError(error);
    printError(`${name}: ${message}. ${hint}`);
    return 2;
  }
  // Drops expired values on time, without waiting for the next request.
  const sweeping = setInterval(() => answerer.sweep?.(Date.now()), 60_000).unref();
  try {
    return await serve(answerer, {
      name,
      input: stdin,
      write: (line) => void stdout.write(`${line}\n`),
      printError,
    });
  } finally {
    clearInterval(sweeping);
    await answerer.close?.();
  }
}

type Reply = Readonly<Record<string, unknown>>;

export interface Answerer {
  /** Throws or rejects with EVENT_INVALID for an unknown payload. */
  answer(payload: unknown, now: number): Reply | Promise<Reply>;
  sweep?(now: number): void;
  close?(): Promise<void>;
}

interface Streams {
  readonly name: string;
  readonly input: AsyncIterable<Uint8Array>;
  write(line: string): void;
  /** Prints one line for people; it never contains a finding's value. */
  printError(line: string): void;
}

/**
 * Answers until the input ends. If the first line is a JSON-RPC request, serves one request per line; otherwise the
 * input is one object. Returns 1 if the one object could not be answered, else 0.
 */
async function serve(answerer: Answerer, streams: Streams): Promise<0 | 1> {
  const lines: string[] = [];
  const unanswered = new Set<Promise<void>>();
  let isServer = false;
  for await (const line of readLines(streams.input)) {
    const isBlank = line?.trim() === '';
    if (!isServer && isBlank && lines.length === 0) continue;
    if (!isServer && lines.length === 0) isServer = isRpc(line);
    if (!isServer) lines.push(line ?? invalidLine);
    else if (!isBlank) answerLine(line, { answerer, streams, unanswered });
  }
  if (!isServer) return await answerOnce(lines.join('\n'), answerer, streams);
  await Promise.all(unanswered);
  return 0;
}

/** Replaces a line that is not UTF-8; invalid anywhere in JSON. */
const invalidLine = '\0';

function isRpc(line: string | undefined): boolean {
  const request = parse(line, JSON.parse);
  return isObject(request) && request['jsonrpc'] !== undefined;
}

interface Server {
  readonly answerer: Answerer;
  readonly streams: Streams;
  readonly unanswered: Set<Promise<void>>;
}

function answerLine(line: string | undefined, { answerer, streams, unanswered }: Server): void {
  const request = parse(line);
  const succeed = (reply: Reply) => {
    // Only a tool's reply has `result`, which is printed alone.
    const { result = reply } = reply;
    streams.write(stringifyJson({ jsonrpc: '2.0', id: idOf(request), result }));
  };
  const fail = (error: unknown) => {
    const message = describeError(error);
    streams.printError(`${streams.name}: ${message}`);
    // A request that is too deep for parseLossless still has an id for the reply.
    const failed = request ?? parse(line, JSON.parse);
    streams.write(
      stringifyJson({ jsonrpc: '2.0', id: idOf(failed), error: { code: codeOf(failed), message } }),
    );
  };
  try {
    if (!isObject(request)) throw new SyntaxError();
    const reply = answerer.answer(request['params'], Date.now());
    if (!(reply instanceof Promise)) {
      succeed(reply);
      return;
    }
    const done = reply
      .then(succeed)
      .catch(fail)
      .finally(() => unanswered.delete(done));
    unanswered.add(done);
  } catch (error) {
    fail(error);
  }
}

async function answerOnce(
  text: string,
  answerer: Answerer,
  { name, write, printError }: Streams,
): Promise<0 | 1> {
  try {
    const payload = parse(text.replace(/^\ufeff/, ''));
    if (!isObject(payload)) throw new SyntaxError();
    write(stringifyJson(await answerer.answer(payload, Date.now())));
    return 0;
  } catch (error) {
    const message = describeError(error);
    printError(`${name}: ${message}`);
    write(stringifyJson({ error: message }));
    return 1;
  }
}

/** Undefined for malformed text; the parser's own message would quote it. */
function parse(text: string | undefined, read: (text: string) => unknown = parseLossless): unknown {
  try {
    return text === undefined ? undefined : read(text);
  } catch {
    return undefined;
  }
}

function idOf(request: unknown): unknown {
  return isObject(request) ? (request['id'] ?? null) : null;
}

function codeOf(request: unknown): number {
  return isObject(request) ? -32_602 : -32_700;
}

/** Explains why a request failed, without any of its text. */
export function describeError(error: unknown): string {
  if (error instanceof RuntimeError) return error.message;
  if (error instanceof SyntaxError) return 'stdin is neither a JSON object nor a line of JSON-RPC';
  if (!(error instanceof Error)) return 'internal error in the filter';
  return `internal error in the filter (${error.name}${stackFrameOf(error)})`;
}

/** Unlike the message of an unknown error, the first stack frame cannot quote a value. */
function stackFrameOf({ name, message, stack = '' }: Error): string {
  const head = message === '' ? name : `${name}: ${message}`;
  if (!stack.startsWith(head)) return '';
  const [place = ''] = stack.slice(head.length).match(/(?<=^ {4})at .*$/m) ?? [];
  return place === '' ? '' : ` ${place}`;
}
