/** One event of a stream. */
export interface ServerEvent {
  /** Fields that belong to the stream: `id` and `retry`, line by line. */
  readonly fields: readonly string[];
  /** Undefined if there is none, or if the event is not a message. */
  readonly data: string | undefined;
}

/**
 * Reads the events of a stream. Comments, which keep a connection open, become events without fields. Throws RangeError
 * for an event of more than `maxBytes` bytes. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function* readEvents(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<ServerEvent> {
  let lines: string[] = [];
  let size = 0;
  for await (const line of linesOf(stream, maxBytes)) {
    size += line.length;
    if (size > maxBytes) throw new RangeError('an event is too long');
    if (line !== '') {
      lines.push(line);
      continue;
    }
    if (lines.length > 0) yield toEvent(lines);
    lines = [];
    size = 0;
  }
}

function toEvent(lines: readonly string[]): ServerEvent {
  const valuesOf = (name: string) =>
    lines
      .filter((line) => line === name || line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const type = valuesOf('event').at(-1) ?? '';
  const data = valuesOf('data');
  const isMessage = data.length > 0 && (type === '' || type === 'message');
  const fields = lines.filter((line) => /^(?:id:[^\0]{0,1000}|retry: ?\d{1,9})$/.test(line));
  return { fields, data: isMessage ? data.join('\n') : undefined };
}

async function* linesOf(stream: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  // An LF after a CR that ended a line is no line of its own, also in the next chunk.
  let isAfterCr = false;
  for await (const chunk of stream) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    rest += isAfterCr && text.startsWith('\n') ? text.slice(1) : text;
    isAfterCr = text.endsWith('\r');
    if (rest.length > maxBytes) throw new RangeError('an event is too long');
    // A long line arrives in many chunks, and is searched once.
    if (!/[\r\n]/.test(text)) continue;
    const parts = rest.split(/\r\n|\n|\r/);
    rest = parts.pop() ?? '';
    yield* parts;
  }
}

/** Writes an event with another text, or with none. */
export function writeEvent({ fields }: Pick<ServerEvent, 'fields'>, data: string | undefined): string {
  const lines = data === undefined ? [] : data.split(/\r\n|\n|\r/).map((line) => `data: ${line}`);
  const all = [...fields, ...lines];
  return all.length === 0 ? ':\n\n' : `${all.join('\n')}\n\n`;
}
