/** One event of a `text/event-stream`, with the text that it was sent as, its blank line included. */
export interface SseEvent {
  /** The exact text, line ends as they came, without lines that no client reads and that might hold text (`SseParser`). */
  readonly raw: string;
  /** The `event:` field; undefined when it has none. */
  readonly event: string | undefined;
  /** The `data:` lines joined by a line feed; undefined when it has none, as a comment alone. */
  readonly data: string | undefined;
}

/** The text of an event of our own; JSON of an upstream that has line ends between its tokens is several `data:` lines. */
export function formatEvent(json: string, event?: string): string {
  const data = lineEnd.test(json) ? json.replaceAll(lineEnds, '\ndata: ') : json;
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}

/** Source: "Parsing an event stream" of https://html.spec.whatwg.org/multipage/server-sent-events.html. */
const lineEnds = /\r\n?|\n/g;
const lineEnd = /[\r\n]/;
