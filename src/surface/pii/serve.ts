import { isObject, parseLossless, stringifyJson } from '../../json/json.ts';
import type { PiiFilter } from '../../pii/filter.ts';
import { describeError } from './failure.ts';
import { readLines } from './lines.ts';

export interface Streams {
  readonly input: AsyncIterable<Uint8Array>;
  /** Writes one line of the protocol. */
  write(line: string): void;
  /** Prints one line for people; it never contains a value that was found. */
  printError(line: string): void;
}

/**
 * Answers until the input ends. A first line that is a request of JSON-RPC makes it a server; anything else is
 * one object, on as many lines as it likes. The exit code: 0, or 1 when the one object could not be answered.
 */
export async function serve(filter: PiiFilter, streams: Streams): Promise<0 | 1> {
  const lines: string[] = [];
  let isServer = false;
  for await (const line of readLines(streams.input)) {
    const isBlank = line?.trim() === '';
    if (!isServer && isBlank && lines.length === 0) continue;
    if (!isServer && lines.length === 0) isServer = isRpc(line);
    if (!isServer) lines.push(line ?? invalidLine);
    else if (!isBlank) answerLine(line, filter, streams);
  }
  return isServer ? 0 : answerOnce(lines.join('\n'), filter, streams);
}

/** Replaces a line that is not UTF-8; invalid anywhere in JSON. */
const invalidLine = '\0';

/** A line is undefined when it is not UTF-8. */
function isRpc(line: string | undefined): boolean {
  const request = parse(line, JSON.parse);
  return isObject(request) && request['jsonrpc'] !== undefined;
}

function answerLine(line: string | undefined, filter: PiiFilter, { write, printError }: Streams): void {
  const request = parse(line);
  try {
    if (!isObject(request)) throw new SyntaxError();
    const result = filter.answer(request['params'], Date.now());
    write(stringifyJson({ jsonrpc: '2.0', id: idOf(request), result }));
  } catch (error) {
    const message = describeError(error);
    printError(`signalbox-pii: ${message}`);
    // A request that is nested too deeply for parseLossless still has an id for the reply.
    const failed = request ?? parse(line, JSON.parse);
    write(stringifyJson({ jsonrpc: '2.0', id: idOf(failed), error: { code: codeOf(failed), message } }));
  }
}

function answerOnce(text: string, filter: PiiFilter, { write, printError }: Streams): 0 | 1 {
  try {
    const payload = parse(text.replace(/^\ufeff/, ''));
    if (!isObject(payload)) throw new SyntaxError();
    write(stringifyJson(filter.answer(payload, Date.now())));
    return 0;
  } catch (error) {
    const message = describeError(error);
    printError(`signalbox-pii: ${message}`);
    write(stringifyJson({ error: message }));
    return 1;
  }
}

/** Undefined for what cannot be read; the parser's own message would quote the text. */
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
