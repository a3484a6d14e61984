/** One scripted answer, for every API. */
export interface Turn {
  /** One text, or its streamed pieces. */
  readonly text?: string | readonly string[];
  /** `args` is written as JSON; bigints keep their digits. `id` defaults to a unique one. */
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly finish?: 'stop' | 'length' | 'filter';
  /** OpenAI-compatible APIs and Gemini may lack a total, or report `null`: no usage. */
  readonly usage?: { readonly input?: number; readonly output?: number } | null;
  readonly fault?: Fault;
}

export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly headers?: Headers;
    }
  | { readonly kind: 'body'; readonly status: number; readonly body: string; readonly headers?: Headers }
  /** No byte is ever sent. */
  | { readonly kind: 'hang' }
  /** The connection is cut before a byte is sent. */
  | { readonly kind: 'hang-up' }
  /** The connection is cut after half of the body, or after `after` events of the stream (default: half). */
  | { readonly kind: 'cut'; readonly after?: number }
  /** The stream ends cleanly, but in the middle. */
  | { readonly kind: 'end'; readonly after?: number }
  /** The stream stops in the middle and stays open. */
  | { readonly kind: 'stall'; readonly after?: number }
  /** An event of the stream is not JSON. */
  | { readonly kind: 'garble'; readonly after?: number }
  | { readonly kind: 'event'; readonly after?: number; readonly message?: string };

type Headers = Readonly<Record<string, string>>;

export function piecesOf({ text }: Turn): readonly string[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? [text] : text;
}

/** Cuts any JSON text into two halves, as an API streams it. */
export function halves(json: string): readonly [string, string] {
  const middle = Math.ceil(json.length / 2);
  return [json.slice(0, middle), json.slice(middle)];
}

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface WireEvent {
  readonly event?: string;
  readonly data: unknown;
}

export interface Wire {
  /** The path at the end of this API's base_url. */
  readonly prefix: string;
  isStream(request: WireRequest): boolean;
  /** The body of an unstreamed answer. `serial` numbers the answers of one fake from 1. */
  body(turn: Turn, request: WireRequest, serial: number): unknown;
  events(turn: Turn, request: WireRequest, serial: number): readonly WireEvent[];
  error(status: number, message: string): unknown;
  errorEvent(message: string): WireEvent;
}
