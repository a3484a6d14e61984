import { invalidAnswer } from './refusal.ts';

/** One event of a `text/event-stream`. Only its data is forwarded, under an event name of the gateway. */
export interface SseEvent {
  readonly event: string | undefined;
  /** The `data:` lines, joined with line feeds. */
  readonly data: string;
}

/** Formats an event. JSON with line breaks becomes several `data:` lines. */
export function formatEvent(json: string, event?: string): string {
  const data = lineEnd.test(json) ? json.replaceAll(lineEnds, '\ndata: ') : json;
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}

/** Source: "Parsing an event stream" of https://html.spec.whatwg.org/multipage/server-sent-events.html. */
const lineEnds = /\r\n?|\n/g;
const lineEnd = /[\r\n]/;

/**
 * Accepts chunks split anywhere. Drops comments, IDs, `retry`, unknown fields and events without data. Throws
 * RefusedCall (502) if the stream is not UTF-8, or if an event or the text dropped between two events exceeds
 * `maxChars` UTF-16 units.
 */
export class SseParser {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #maxChars: number;
  #line: string[] = [];
  #isAtReturn = false;
  #isFirstLine = true;
  #open: OpenEvent = startEvent();
  #chars = 0;
  /** UTF-16 units dropped since the last event. */
  #droppedChars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** UTF-16 units of the incomplete event. */
  get pendingChars(): number {
    return this.#chars;
  }

  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    this.#take(this.#decode(bytes), events);
    return events;
  }

  /** Returns the last event even without its blank line, as some clients read it. */
  end(): SseEvent[] {
    const events: SseEvent[] = [];
    this.#take(this.#decode(), events);
    if (this.#isAtReturn) this.#endLine('\r', events);
    if (this.#line.length > 0) this.#endLine('', events);
    this.#closeEvent(events);
    return events;
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true });
    } catch {
      throw invalidAnswer('its stream is not UTF-8');
    }
  }

  #take(text: string, events: SseEvent[]): void {
    let from = 0;
    if (this.#isAtReturn && text !== '') {
      from = text.startsWith('\n') ? 1 : 0;
      this.#endLine(from === 1 ? '\r\n' : '\r', events);
    }
    for (let end = findLineEnd(text, from); end !== -1; end = findLineEnd(text, from)) {
      this.#keep(text.slice(from, end));
      const isReturn = text.charAt(end) === '\r';
      if (isReturn && end + 1 === text.length) {
        this.#isAtReturn = true;
        return;
      }
      const lineEnd = isReturn && text.charAt(end + 1) === '\n' ? '\r\n' : text.charAt(end);
      this.#endLine(lineEnd, events);
      from = end + lineEnd.length;
    }
    this.#keep(text.slice(from));
  }

  #keep(piece: string): void {
    if (piece === '') return;
    this.#line.push(piece);
    this.#chars += piece.length;
    if (this.#chars > this.#maxChars) throw invalidAnswer('an event of its stream is too long');
  }

  #endLine(lineEnd: string, events: SseEvent[]): void {
    const line = this.#line.join('');
    this.#line = [];
    this.#isAtReturn = false;
    const isMarked = this.#isFirstLine && line.startsWith('\uFEFF');
    this.#isFirstLine = false;
    const text = isMarked ? line.slice(1) : line;
    this.#chars += lineEnd.length;
    if (text === '') this.#closeEvent(events);
    else if (!readLine(this.#open, text)) this.#drop(line.length + lineEnd.length);
  }

  #drop(chars: number): void {
    this.#chars -= chars;
    this.#droppedChars += chars;
    if (this.#droppedChars > this.#maxChars) throw invalidAnswer('its stream has too many comments');
  }

  #closeEvent(events: SseEvent[]): void {
    const { event, data } = this.#open;
    this.#open = startEvent();
    if (data === undefined) {
      this.#drop(this.#chars);
      return;
    }
    this.#chars = 0;
    this.#droppedChars = 0;
    events.push({ event, data: data.join('\n') });
  }
}

interface OpenEvent {
  event: string | undefined;
  data: string[] | undefined;
}

function startEvent(): OpenEvent {
  return { event: undefined, data: undefined };
}

function readLine(open: OpenEvent, line: string): boolean {
  const colon = line.indexOf(':');
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
  if (name === 'data') {
    open.data ??= [];
    open.data.push(value);
    return true;
  }
  if (name === 'event') open.event = value;
  return name === 'event';
}

const anyLineEnd = /[\r\n]/g;

function findLineEnd(text: string, from: number): number {
  anyLineEnd.lastIndex = from;
  return anyLineEnd.exec(text)?.index ?? -1;
}
