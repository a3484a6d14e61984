import type { Json } from '../base/json/json.ts';

/**
 * A message of the native protocol. `content` is always the whole text, also of tool results; further members (`parts`,
 * `tool_calls`, `tool_result`, `finish_reason`, …) pass unchanged.
 */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly [member: string]: unknown;
}

/** A request to a model before it is sent. `round` counts the provider calls of one turn, from 1. */
export interface ProviderRequest {
  readonly provider_id: string;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** `messages` never contain the system prompt. */
  readonly system_prompt: string;
  readonly round: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The tools offered to the model. Not part of the native payload. */
  readonly tools?: readonly ToolListing[];
  /** Not part of the native payload. */
  readonly options?: ModelOptions;
  /** Of a request over HTTP: the members that no other field exposes, tool definitions included, as an object. */
  readonly other?: Json;
}

export interface ProviderResponse {
  readonly provider_id: string;
  readonly model: string;
  readonly message: ChatMessage;
  readonly round: number;
  readonly latency_ms: number;
}

/** Further options of a model call; the provider's defaults apply to absent members. */
export interface ModelOptions {
  readonly max_tokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export interface ToolListing {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly input_schema: unknown;
  readonly category?: string | undefined;
}

/** `llm`: the provider answers. `embedding`: it converts texts to vectors. */
export type ProviderRole = 'llm' | 'embedding';
