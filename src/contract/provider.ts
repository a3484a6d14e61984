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
  /** Stands here only, never as a message. */
  readonly system_prompt: string;
  readonly round: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What the model answered. */
export interface ProviderResponse {
  readonly provider_id: string;
  readonly model: string;
  readonly message: ChatMessage;
  readonly round: number;
  readonly latency_ms: number;
}
