import type { Fault } from '../errors.ts';
import type { Json } from '../json.ts';
import type { ChatMessage, ProviderRequest, ProviderResponse } from './provider.ts';

/** The phases of each kind of hook. An eval hook has the one moment that an eval was scored. */
export const phasesOf = {
  provider: ['before_call', 'after_call'],
  tool: ['before_execution', 'after_execution'],
  session: ['session_start', 'session_update', 'session_end'],
  eval: ['scored'],
} as const;

export type HookKind = keyof typeof phasesOf;
export type Phase = (typeof phasesOf)[HookKind][number];
/** filter: asked and obeyed; observe: told; shadow: asked beside the path, its verdict only recorded. */
export type HookMode = 'filter' | 'observe' | 'shadow';

/** A tool call on its way; `args` is an object. */
export interface ToolHookRequest {
  readonly name: string;
  readonly args: unknown;
  readonly call_id: string;
}

/** What the model would see of a finished tool call; `error` is empty when it succeeded. */
export interface ToolHookResponse {
  readonly name: string;
  readonly call_id: string;
  readonly content: string;
  readonly error: string;
  readonly latency_ms: number;
}

export interface SessionEvent {
  readonly session_id: string;
  readonly conversation_id: string;
  readonly messages: readonly ChatMessage[];
  readonly turn_index: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A finished eval as an eval hook reads it: `score` is absent when unscored, and `error` then has the reason. */
export interface EvalEvent {
  readonly eval_id: string;
  readonly type: string;
  readonly score?: number;
  readonly passed: boolean;
  readonly explanation?: string;
  readonly duration_ms: number;
  readonly error?: string;
  readonly details?: unknown;
  readonly session_id?: string;
  readonly turn_index?: number;
}

/** Something that hooks are asked about or told. Members are those of the native payload. */
export type HookEvent =
  | { readonly hook: 'provider'; readonly phase: 'before_call'; readonly request: ProviderRequest }
  | {
      readonly hook: 'provider';
      readonly phase: 'after_call';
      readonly request: ProviderRequest;
      readonly response: ProviderResponse;
    }
  | { readonly hook: 'tool'; readonly phase: 'before_execution'; readonly request: ToolHookRequest }
  | {
      readonly hook: 'tool';
      readonly phase: 'after_execution';
      readonly request: ToolHookRequest;
      readonly response: ToolHookResponse;
    }
  | {
      readonly hook: 'session';
      readonly phase: 'session_start' | 'session_update' | 'session_end';
      readonly event: SessionEvent;
    }
  | { readonly hook: 'eval'; readonly phase: 'scored'; readonly event: EvalEvent };

/** One hook lets the event pass. */
export interface Allow {
  readonly verdict: 'allow';
  readonly reason: string;
  readonly metadata: Json;
}

/** One hook lets the event pass with parts of it replaced; `replace` has the shape of the phase. */
export interface Modify {
  readonly verdict: 'modify';
  readonly replace: Json;
  readonly reason: string;
  readonly metadata: Json;
}

/** One hook stops the event. `enforced` asks for a stand-in text; `error` is set when a fault denied. */
export interface Deny {
  readonly verdict: 'deny';
  readonly reason: string;
  readonly enforced: boolean;
  readonly metadata: Json;
  readonly error?: Fault;
}

/** One hook wants a person to decide whether a tool runs. */
export interface Ask {
  readonly verdict: 'ask';
  readonly reason: string;
  readonly metadata: Json;
}

/** What one filter answered. */
export type Answer = Allow | Modify | Deny | Ask;

/** What a whole chain of filters came to, and who decided. */
export interface Decision {
  readonly verdict: Answer['verdict'];
  /** The hook that denied or asked, or the last one that modified; null when every hook merely allowed. */
  readonly hook: string | null;
  readonly dialect: string | null;
  readonly reason: string;
  readonly enforced: boolean;
  /** All replacements together, by member, the last one of each; null unless `modify`. */
  readonly replace: Json | null;
  /** The text that stands in for a withheld model answer; null unless an enforced denial. */
  readonly result: string | null;
  /** The denying or asking hook's, else those of all hooks merged in order. */
  readonly metadata: Json;
  readonly error?: Fault;
}

export const allow = (reason: string, metadata: Json): Allow => ({ verdict: 'allow', reason, metadata });
export const modify = (replace: Json, reason: string, metadata: Json): Modify => ({
  verdict: 'modify',
  replace,
  reason,
  metadata,
});
export const ask = (reason: string, metadata: Json): Ask => ({ verdict: 'ask', reason, metadata });
export const deny = (reason: string, enforced: boolean, metadata: Json): Deny => ({
  verdict: 'deny',
  reason,
  enforced,
  metadata,
});
