import type { Fault } from '../base/errors.ts';
import type { Json } from '../base/json/json.ts';
import type { ChatMessage } from './provider.ts';

/** A tool call. `result` is the text that the model read; `index` is the position of the assistant message. */
export interface EvalToolCall {
  readonly name: string;
  readonly args: unknown;
  readonly result: string;
  readonly error: string;
  /** PromptKit's error type, if known: `validation` for arguments that the tool refused. */
  readonly error_type?: string;
  readonly index: number;
}

/** The conversation around the judged text. Every member is present, possibly empty. */
export interface EvalContext {
  readonly messages: readonly ChatMessage[];
  readonly turn_index: number;
  readonly tool_calls: readonly EvalToolCall[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly session_id?: string;
  readonly prompt_id?: string;
}

export interface EvalRequest {
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>> | Json;
  readonly content: string;
  readonly context: EvalContext;
}

/** A score in 0..1, with the eval's detail and data. */
export interface EvalScored {
  readonly status: 'scored';
  readonly score: number;
  readonly detail: string;
  readonly data?: Json;
}

/** The eval returned no score. Such results are counted but never averaged, and they fail any threshold. */
export interface EvalUnscored {
  readonly status: 'unscored';
  readonly reason: string;
  /** Set if the eval failed, absent if it declined to score. */
  readonly error?: Fault;
}

export type EvalOutcome = EvalScored | EvalUnscored;

/** Inclusive bounds in 0..1. Without either, `min_score` is 1.0. */
export interface Threshold {
  readonly min_score?: number;
  readonly max_score?: number;
}

export const scored = (score: number, detail: string, data?: Json): EvalScored =>
  data === undefined ? { status: 'scored', score, detail } : { status: 'scored', score, detail, data };

export const unscored = (reason: string, error?: Fault): EvalUnscored =>
  error === undefined ? { status: 'unscored', reason } : { status: 'unscored', reason, error };
