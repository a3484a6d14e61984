import { invalidAnswer } from './faults.ts';
import { isPlainId } from './plain-id.ts';
import type { SseEvent } from './sse.ts';

/**
 * Reads a `text/event-stream` as its bytes come, split anywhere, by the rules of
 * https://html.spec.whatwg.org/multipage/server-sent-events.html. Of lines that are neither `event` nor `data` only those
 * stay in `raw` that cannot hold a text: known keep-alive comments, plain ids, `retry`. Throws RefusedCall (502) for
 * what is not UTF-8, and for more than `maxChars` UTF-16 units of one event, or of all lines that are left out.
 */
export class SseParser {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #maxChars: number;
  /** The pieces of the line that is not at its end. */
  #line: string[] = [];
  /** Whether the line ended with a carriage return that a line feed may follow. */
  #isAtReturn = false;
  #isFirstLine = true;
  #open: OpenEvent = startEvent();
  #chars = 0;
  /** UTF-16 units of lines that were left out. */
  #droppedChars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** UTF-16 units that wait for the end of their event. */
  get pendingChars(): number {
    return this.#chars;
  }

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    this.#take(this.#decode(bytes), events);
    return events;
  }

  /** At the end of the stream: the last event, which may lack its blank line, as some clients read it all the same. */
  end(): SseEvent[] {
    const events: SseEvent[] = [];
    this.#take(this.#decode(), events);
    if (this.#isAtReturn) this.#endLine('\r', events);
    if (this.#line.length > 0) this.#endLine('', events);
    if (!isUntouched(this.#open)) events.push(this.#closeEvent());
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
    const { raw } = this.#open;
    // Behind a line that was left out, a line feed would belong to the carriage return before it, and be no blank line.
    const isJoined = line === '' && lineEnd === '\n' && raw.at(-1) === '\r';
    if (readLine(this.#open, text)) raw.push(line, isJoined ? '\r\n' : lineEnd);
    else this.#drop(line.length + lineEnd.length);
    if (text === '') events.push(this.#closeEvent());
  }

  #drop(chars: number): void {
    this.#chars -= chars;
    this.#droppedChars += chars;
    if (this.#droppedChars > this.#maxChars) throw invalidAnswer('its stream has too many comments');
  }

  #closeEvent(): SseEvent {
    const { raw, event, data } = this.#open;
    this.#open = startEvent();
    this.#chars = 0;
    return { raw: raw.join(''), event, data: data?.join('\n') };
  }
}

/** An event whose blank line has not come. */
interface OpenEvent {
  readonly raw: string[];
  event: string | undefined;
  data: string[] | undefined;
}

function startEvent(): OpenEvent {
  return { raw: [], event: undefined, data: undefined };
}

function isUntouched({ raw }: OpenEvent): boolean {
  return raw.length === 0;
}

/** Puts a line into its event. False when it may hold text in a place that no client reads. */
function readLine(open: OpenEvent, line: string): boolean {
  const colon = line.indexOf(':');
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
  switch (name) {
    case 'data':
      open.data ??= [];
      open.data.push(value);
      return true;
    case 'event':
      open.event = value;
      return true;
    case 'id':
      return value === '' || isPlainId(value);
    case 'retry':
      return /^\d{0,9}$/.test(value);
    case '':
      return line === '' || quietComment.test(line);
    default:
      return false;
  }
}

/** Comments that servers send to keep a connection awake. */
const quietComment =
  /^: ?(?:(?:ping|pong|keep-?alive|heartbeat|OPENROUTER PROCESSING)(?: - \d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|\+00:00)?)?)? ?$/i;

const lineEnds = /[\r\n]/g;

function findLineEnd(text: string, from: number): number {
  lineEnds.lastIndex = from;
  return lineEnds.exec(text)?.index ?? -1;
}
