/** One event of a `text/event-stream`: what is passed on of it is its data alone, under a name of our own. */
export interface SseEvent {
  /** The `event:` field; undefined when it has none. */
  readonly event: string | undefined;
  /** The `data:` lines joined by a line feed. */
  readonly data: string;
}

/** The text of an event. JSON that has line ends between its tokens is several `data:` lines. */
export function formatEvent(json: string, event?: string): string {
  const data = lineEnd.test(json) ? json.replaceAll(lineEnds, '\ndata: ') : json;
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}

/** Source: "Parsing an event stream" of https://html.spec.whatwg.org/multipage/server-sent-events.html. */
const lineEnds = /\r\n?|\n/g;
const lineEnd = /[\r\n]/;
