import type { Json } from '../base/json/json.ts';

/**
 * A message as the native wire carries it. `content` is always the message's whole text, that of tool
 * results too; further members (`parts`, `tool_calls`, `tool_result`, `finish_reason`, …) travel untouched.
 */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly [member: string]: unknown;
}

/** What is about to be sent to a model. `round` counts the provider calls of one turn, from 1. */
export interface ProviderRequest {
  readonly provider_id: string;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** The system prompt; `messages` never contain it. */
  readonly system_prompt: string;
  readonly round: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** What the model is offered; no member of the native payload. */
  readonly tools?: readonly ToolListing[];
  /** No member of the native payload. */
  readonly options?: ModelOptions;
  /**
   * Of a request that came over HTTP: all members of its body that are told nowhere else, tool definitions included, as
   * one JSON object.
   */
  readonly other?: Json;
}

/** What the model answered. */
export interface ProviderResponse {
  readonly provider_id: string;
  readonly model: string;
  readonly message: ChatMessage;
  readonly round: number;
  readonly latency_ms: number;
}

/** What a model is called with beside its messages and tools; absent members are the provider's own. */
export interface ModelOptions {
  readonly max_tokens?: number | undefined;
  readonly temperature?: number | undefined;
}

/** A tool as a model is offered it. */
export interface ToolListing {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly input_schema: unknown;
  readonly category?: string | undefined;
}

/** What a provider is asked for: answers of a model, or embeddings of texts. */
export type ProviderRole = 'llm' | 'embedding';
