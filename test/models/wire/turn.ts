/** One scripted answer, in words that every API has. */
export interface Turn {
  /** One text, or the pieces in which it is streamed. */
  readonly text?: string | readonly string[];
  /** `args` is written as JSON; bigints keep their digits. Without an `id` each has one of its own. */
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly finish?: 'stop' | 'length' | 'filter';
  /** Of OpenAI's likenesses and Gemini, also one that lacks a total, or `null`: none at all. */
  readonly usage?: { readonly input?: number; readonly output?: number } | null;
  /** What goes wrong instead, or on the way. */
  readonly fault?: Fault;
}

export type Fault =
  /** An error in the API's own form. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly headers?: Headers;
    }
  /** These bytes with a status. */
  | { readonly kind: 'body'; readonly status: number; readonly body: string; readonly headers?: Headers }
  /** No byte is ever sent. */
  | { readonly kind: 'hang' }
  /** The connection is cut before a byte is sent. */
  | { readonly kind: 'hang-up' }
  /** The connection is cut in the middle: half of the body, or `after` events of the stream (default: half). */
  | { readonly kind: 'cut'; readonly after?: number }
  /** The stream ends as if it were complete, but in the middle. */
  | { readonly kind: 'end'; readonly after?: number }
  /** The stream falls silent in the middle. */
  | { readonly kind: 'stall'; readonly after?: number }
  /** An event of the stream is no JSON. */
  | { readonly kind: 'garble'; readonly after?: number }
  /** The API reports an error inside the stream. */
  | { readonly kind: 'event'; readonly after?: number; readonly message?: string };

type Headers = Readonly<Record<string, string>>;

/** The pieces of a text. */
export function piecesOf({ text }: Turn): readonly string[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? [text] : text;
}

/** Any JSON text in two halves, as an API streams it. */
export function halves(json: string): readonly [string, string] {
  const middle = Math.ceil(json.length / 2);
  return [json.slice(0, middle), json.slice(middle)];
}

/** What was sent to a fake. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** An event of a stream of server-sent events; `data` is JSON, or text that is sent as it stands. */
export interface WireEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** How one API speaks. */
export interface Wire {
  /** The path that a base_url of this API ends with. */
  readonly prefix: string;
  isStream(request: WireRequest): boolean;
  /** The body of an answer that is not streamed. `serial` numbers the answers of one fake from 1. */
  body(turn: Turn, request: WireRequest, serial: number): unknown;
  events(turn: Turn, request: WireRequest, serial: number): readonly WireEvent[];
  error(status: number, message: string): unknown;
  /** An error inside a stream. */
  errorEvent(message: string): WireEvent;
}
