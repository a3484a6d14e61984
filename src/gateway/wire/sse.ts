/** One event of a `text/event-stream`, with the text that it was sent as, its blank line included. */
export interface SseEvent {
  /** The exact text, line ends and comments as they came. */
  readonly raw: string;
  /** The `event:` field; undefined when it has none. */
  readonly event: string | undefined;
  /** The `data:` lines joined by a line feed; undefined when it has none, as a comment alone. */
  readonly data: string | undefined;
}
