import type { Json } from '../../base/json/json.ts';
import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { Refusal } from './refusal.ts';
import type { SseEvent } from './sse.ts';

export type EndpointName = 'chat' | 'responses' | 'messages' | 'count_tokens' | 'embeddings';

export interface WireRules {
  /** Kinds of parts, items and blocks that pass unread, such as `image`, `audio`, `file` or a specific `type`. */
  readonly opaque: ReadonlySet<string>;
  /** Members that may refer to content stored upstream, such as `previous_response_id`. */
  readonly references: ReadonlySet<string>;
  readonly redactsEmbeddings: boolean;
  /** The maximum nesting of a request body. Default: the limit for all JSON. */
  readonly maxDepth?: number | undefined;
}

export interface RequestPayload {
  readonly messages: readonly ChatMessage[];
  readonly system_prompt: string;
  /** The number of model calls since the user's last message, from 1. */
  readonly round: number;
  readonly tools: readonly ToolListing[];
  readonly options: ModelOptions;
  /** All members not exposed elsewhere, including tool definitions, as one JSON object with their exact texts. */
  readonly other: Json;
}

export interface ClientToolResult {
  readonly callId: string;
  /** The call with this ID in the same request; undefined if there is none. */
  readonly call: { readonly name: string; readonly args: Json } | undefined;
  readonly content: string;
  readonly isError: boolean;
  readonly index: number;
}

export interface WireRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices: number;
  readonly payload: RequestPayload;
  readonly toolResults: readonly ClientToolResult[];
  /** The body path of each message, such as `messages[3]`, in the order of `payload.messages`. */
  readonly places: readonly string[];
  /** Returns the same string if nothing differs. Throws REPLY_MALFORMED if a change cannot be written exactly. */
  write(
    changed: Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>,
    model: string,
  ): string;
}

export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number | undefined;
}

/** A complete response, streamed or not. */
export interface WireAnswer {
  readonly body: string;
  /** The messages for after_call, one for each choice in order. `other` holds everything not exposed elsewhere. */
  readonly messages: readonly ChatMessage[];
  readonly usage: TokenUsage | undefined;
  readonly toolCalls: readonly AnswerToolCall[];
  /**
   * Identical message objects stay unchanged. Content that a changed message lacks is removed. Throws REPLY_MALFORMED.
   */
  write(changed: readonly ChatMessage[]): string;
}

export interface AnswerToolCall {
  readonly callId: string;
  readonly name: string;
  /** The model's arguments: a JSON object, or a JSON string with the raw text. */
  readonly args: Json;
  /** The index of its choice in `messages`; `index` is its position in `tool_calls`. */
  readonly choice: number;
  readonly index: number;
}

export interface Channel {
  readonly key: string;
  readonly choice: number;
  readonly member: 'content' | 'reasoning' | 'refusal';
}

export type StreamPart =
  /** No content: a start, a ping or counts. IDs and names have been validated. */
  | { readonly kind: 'free' }
  | {
      readonly kind: 'text';
      readonly deltas: readonly { readonly channel: Channel; readonly text: string }[];
    }
  /** Repeats text that has already arrived, or ends a channel. */
  | { readonly kind: 'echo' }
  /** Must wait for the decision on the whole response. */
  | { readonly kind: 'held' }
  /** The response is complete. Events such as usage or [DONE] may follow. */
  | { readonly kind: 'end' }
  | { readonly kind: 'error' };

export interface StreamReader {
  /**
   * Throws RefusedCall (502): `unknown_content` for content that hooks cannot see, `upstream_invalid` for
   * contradictions.
   */
  push(event: SseEvent): StreamPart;
  /** Throws RefusedCall (502) if the stream is incomplete or its repeated texts differ from the original ones. */
  answer(): WireAnswer;
}

/** Tracks what the client has, so that a stream can continue, finish or fail. All methods return whole events. */
export interface StreamWriter {
  verbatim(event: SseEvent): string;
  text(channel: Channel, text: string): string;
  /**
   * Writes the rest of `body`, from `WireAnswer.write` or `substitute`, and the end of the stream. Throws
   * REPLY_MALFORMED if `body` does not begin with what the client has.
   */
  finish(body: string): string;
  fail(refusal: Refusal): string;
  /** Returns a keep-alive that parsers count as an event and that adds nothing to the response. */
  wait(): string;
}

export interface Substitute {
  readonly text: string;
  /** `refused` uses the endpoint's native refusal, `stop` a normal end. */
  readonly end: 'refused' | 'stop';
}

export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface EndpointCodec {
  readonly name: EndpointName;
  /** Throws RefusedCall (400) for malformed requests, unknown content and references to stored content. */
  readRequest(body: string, rules: WireRules, headers?: ClientHeaders): WireRequest;
  /** Throws RefusedCall (502) for unknown content. */
  readAnswer(body: string, rules: WireRules, request: WireRequest): WireAnswer;
  /** The error's text is `content` of the one message, all else is in `other`. */
  readError(body: string): WireAnswer;
  /** Returns the unstreamed body of a stand-in; absent for endpoints without text responses. */
  substitute?(substitute: Substitute, model: string): string;
  readonly stream?: {
    reader(rules: WireRules, request: WireRequest): StreamReader;
    writer(request: WireRequest): StreamWriter;
  };
  refusal(refusal: Refusal): string;
}
