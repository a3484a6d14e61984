/** One event of a `text/event-stream`, with the text that it was sent as, its blank line included. */
export interface SseEvent {
  /** The exact text, line ends as they came, without lines that no client reads and that might hold text (`SseParser`). */
  readonly raw: string;
  /** The `event:` field; undefined when it has none. */
  readonly event: string | undefined;
  /** The `data:` lines joined by a line feed; undefined when it has none, as a comment alone. */
  readonly data: string | undefined;
}

/** The text of an event of our own; `data` is one line, as JSON without line feeds is. */
export function formatEvent(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}
