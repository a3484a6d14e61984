import type { Json } from '../../base/json/json.ts';
import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { Refusal } from './refusal.ts';
import type { SseEvent } from './sse.ts';

export type EndpointName = 'chat' | 'responses' | 'messages' | 'count_tokens' | 'embeddings';

/** What a config lets pass beyond what hooks can read. */
export interface WireRules {
  /** Kinds of parts, items and blocks that pass unread, such as `image`, `audio`, `file`, or a kind's own `type`. */
  readonly opaque: ReadonlySet<string>;
  /** Members that refer to content that the upstream keeps, such as `previous_response_id`. */
  readonly references: ReadonlySet<string>;
  /** Whether a hook may change texts that are embedded. */
  readonly redactsEmbeddings: boolean;
  /** The deepest nesting of a request's body; undefined: as deep as any JSON may be. */
  readonly maxDepth?: number | undefined;
}

/** What hooks read of a request; members are those of the native payload. */
export interface RequestPayload {
  readonly messages: readonly ChatMessage[];
  readonly system_prompt: string;
  /** Model calls since the user's last message, from 1. */
  readonly round: number;
  /** For hooks that look at what the model is offered. */
  readonly tools: readonly ToolListing[];
  readonly options: ModelOptions;
  /**
   * All members of the body that are told nowhere else, tool definitions included, as one JSON object of their
   * exact texts.
   */
  readonly other: Json;
}

/** A result of a tool that the client ran, as the request sends it back. */
export interface ClientToolResult {
  readonly callId: string;
  /** Of the call with this id in the same request; undefined when it has none. */
  readonly call: { readonly name: string; readonly args: Json } | undefined;
  readonly content: string;
  readonly isError: boolean;
  /** Its index in `payload.messages`. */
  readonly index: number;
}

/** A request body that was read. */
export interface WireRequest {
  readonly model: string;
  readonly isStream: boolean;
  /** The most tokens that one choice may have, if the request says so. */
  readonly maxTokens: number | undefined;
  /** How many choices it asks for. */
  readonly choices: number;
  readonly payload: RequestPayload;
  readonly toolResults: readonly ClientToolResult[];
  /** Where each payload message stands in the body, such as `messages[3]`; in the order of `payload.messages`. */
  readonly places: readonly string[];
  /**
   * The body with the hooks' changes and the upstream's name of the model at their exact places; the very same
   * string when nothing differs. Throws RuntimeError REPLY_MALFORMED when a change cannot be written exactly.
   */
  write(
    changed: Pick<RequestPayload, 'messages' | 'system_prompt' | 'other' | 'tools'>,
    model: string,
  ): string;
}

/** Tokens as the upstream counted them. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number | undefined;
}

/** A whole answer, streamed or not. */
export interface WireAnswer {
  /** The answer as the endpoint gives it unstreamed. */
  readonly body: string;
  /** What after_call is asked about: a message for each choice, in order. `other` has what is told nowhere else. */
  readonly messages: readonly ChatMessage[];
  readonly usage: TokenUsage | undefined;
  /** The tool calls that the client is to run, of all choices, in order. */
  readonly toolCalls: readonly AnswerToolCall[];
  /**
   * The body with changed messages at their exact places. A message that is the same object stays as it is; of a
   * changed one everything goes that it does not repeat. Throws RuntimeError REPLY_MALFORMED.
   */
  write(changed: readonly ChatMessage[]): string;
}

export interface AnswerToolCall {
  readonly callId: string;
  readonly name: string;
  /** The arguments as the model wrote them: one JSON object, else a JSON string of the text. */
  readonly args: Json;
  /** The index of its choice in `messages`, and its own in `tool_calls` of that message. */
  readonly choice: number;
  readonly index: number;
}

/** One text of an answer that grows while it is streamed. */
export interface Channel {
  /** Unique within the answer. */
  readonly key: string;
  /** The index of its choice in `WireAnswer.messages`. */
  readonly choice: number;
  /** The member of the choice's message whose text grows; content, reasoning and refusal may be windowed. */
  readonly member: 'content' | 'reasoning' | 'refusal';
}

/** What one event of a stream tells. */
export type StreamPart =
  /** Nothing of the answer: a beginning, a ping, figures; its ids and names have been checked to be such. */
  | { readonly kind: 'free' }
  /** New text on channels, and nothing else that is worth judging. */
  | {
      readonly kind: 'text';
      readonly deltas: readonly { readonly channel: Channel; readonly text: string }[];
    }
  /** Repeats only what text events have told, as `…done` events do; or ends a channel. */
  | { readonly kind: 'echo' }
  /** Anything else: it waits for the decision on the whole answer. */
  | { readonly kind: 'held' }
  /** The answer is complete; further events may follow (usage, [DONE]). */
  | { readonly kind: 'end' }
  /** The upstream tells an error in the stream. */
  | { readonly kind: 'error' };

/** Reads a streamed answer and puts it together as the unstreamed endpoint would have given it. */
export interface StreamReader {
  /** Throws RefusedCall (502 `unknown_content`) for what the projection does not know, and for contradictions. */
  push(event: SseEvent): StreamPart;
  /** The whole answer. Throws RefusedCall (502) when the stream broke off, or what it repeated differs from what it told. */
  answer(): WireAnswer;
}

/**
 * Writes a stream to a client. It is told of every original event that goes out, so that at any moment it knows what
 * the client has, and can go on, close or fail in a form that clients accept. All methods return the text of whole events.
 */
export interface StreamWriter {
  /** Notes that an original event goes out, and returns its text as it came. */
  verbatim(event: SseEvent): string;
  /** New text on a channel, opened where it has to be. */
  text(channel: Channel, text: string): string;
  /**
   * Everything that the client still lacks of an answer, and the end of the stream. `body` is what
   * `WireAnswer.write` or `substitute` gave. Throws RuntimeError REPLY_MALFORMED when the client has something already
   * that the answer does not begin with.
   */
  finish(body: string): string;
  /** The error event that ends a stream. */
  fail(refusal: Refusal): string;
  /** Keeps a client awake while an answer is held: what its parser counts as an event and what adds nothing to the answer. */
  wait(): string;
}

/** A text that stands in the place of a model's answer. */
export interface Substitute {
  readonly text: string;
  /** `refused`: the endpoint's native refusal; `stop`: an ordinary end. */
  readonly end: 'refused' | 'stop';
}

/** Headers of a client by their lower-case names. */
export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What the bodies of one endpoint mean. */
export interface EndpointCodec {
  readonly name: EndpointName;
  /**
   * Throws RefusedCall (400) for what is unknown, refers to kept content, or is no such request. Of the headers only what
   * its client can read of an answer follows.
   */
  readRequest(body: string, rules: WireRules, headers?: ClientHeaders): WireRequest;
  /** Throws RefusedCall (502) for what the projection does not know. */
  readAnswer(body: string, rules: WireRules, request: WireRequest): WireAnswer;
  /** An upstream's error body, of any form, as an answer whose one message has its text and all else in `other`. */
  readError(body: string): WireAnswer;
  /** The unstreamed body of a stand-in. Absent where an endpoint has no texts as answers. */
  substitute?(substitute: Substitute, model: string): string;
  /** Absent: the endpoint has no streams. */
  readonly stream?: {
    reader(rules: WireRules, request: WireRequest): StreamReader;
    writer(request: WireRequest): StreamWriter;
  };
  /** The body of a refusal in the endpoint's own form. */
  refusal(refusal: Refusal): string;
}
