import { type Fault, isCancelled, withCatalogueText } from '../base/errors.ts';
import { Json } from '../base/json/json.ts';
import type { ChatMessage, ProviderRequest, ProviderResponse } from './provider.ts';
import type { FinishedCall, Turn } from './turn.ts';

/** The phases of each kind of hook. An eval hook has one: an eval was scored. */
export const phasesOf = {
  provider: ['before_call', 'after_call'],
  tool: ['before_execution', 'after_execution'],
  session: ['session_start', 'session_update', 'session_end'],
  eval: ['scored'],
} as const;

export type HookKind = keyof typeof phasesOf;
export type Phase = (typeof phasesOf)[HookKind][number];
/** filter: asked, its verdict counts; observe: only notified; shadow: asked, its verdict only recorded. */
export type HookMode = 'filter' | 'observe' | 'shadow';

interface AnswerBase {
  readonly reason: string;
  readonly metadata: Json;
  /** Further texts for the model. */
  readonly context?: readonly string[];
}

/** One hook lets the event pass. */
export interface Allow extends AnswerBase {
  readonly verdict: 'allow';
  /** The hook does not handle this point, and need not be asked there again while its process lives. */
  readonly isUnsubscribed?: boolean;
}

/** One hook lets the event pass with parts of it replaced; `replace` has the shape of the phase or point. */
export interface Modify extends AnswerBase {
  readonly verdict: 'modify';
  readonly replace: Json;
}

/** One hook stops the event. `enforced` asks for a stand-in text; `error` is set when a fault caused it. */
export interface Deny extends AnswerBase {
  readonly verdict: 'deny';
  readonly enforced: boolean;
  readonly error?: Fault;
}

/** One hook wants a person to decide whether a tool runs; with `replace`, of the call as it then is. */
export interface Ask extends AnswerBase {
  readonly verdict: 'ask';
  readonly replace?: Json;
}

/** One hook answers in the place of the work itself. */
export interface Respond extends AnswerBase {
  readonly verdict: 'respond';
  readonly result: Json;
  /** The answer is that of a tool that failed. */
  readonly isError?: boolean;
  /** A text for the caller; when all calls of a round have one, the model is not called again. */
  readonly handled?: string;
}

/** One hook ends the whole turn, or the session with it; `error` is set when a fault did. */
export interface Abort extends AnswerBase {
  readonly verdict: 'abort';
  readonly scope: 'turn' | 'session';
  readonly error?: Fault;
}

/** What one filter answered. */
export type Answer = Allow | Modify | Deny | Ask | Respond | Abort;
export type Verdict = Answer['verdict'];

/** The decision of a whole chain of filters, and the hook that took it. */
export interface Decision {
  readonly verdict: Verdict;
  /** The hook that decided, or the last one that modified; null when every hook merely allowed. */
  readonly hook: string | null;
  readonly dialect: string | null;
  readonly reason: string;
  readonly enforced: boolean;
  /** All replacements together, by member, the last one of each; null when there is none. */
  readonly replace: Json | null;
  /** The replacement for the work itself: the text of an enforced denial, or the result of a `respond`; else null. */
  readonly result: Json | null;
  /** Texts for the model, in the order of the hooks. */
  readonly context: readonly string[];
  /** How much an abort ends; null for every other verdict. */
  readonly abort: 'turn' | 'session' | null;
  /** The deciding hook's, else those of all hooks merged in order. */
  readonly metadata: Json;
  readonly error?: Fault;
}

/** The optional members of an answer. */
export interface AnswerDetails {
  readonly reason?: string;
  readonly metadata?: Json;
  readonly context?: readonly string[];
}

const answerBase = ({ reason = '', metadata = new Json('{}'), context }: AnswerDetails): AnswerBase => ({
  reason,
  metadata,
  ...(context !== undefined && context.length > 0 && { context }),
});

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

/** Constructors of answers with the optional members that foreign dialects use. */
export const answers = {
  allow: (beside: AnswerDetails = {}): Allow => ({ verdict: 'allow', ...answerBase(beside) }),
  modify: (replace: unknown, beside: AnswerDetails = {}): Modify => ({
    verdict: 'modify',
    replace: Json.from(replace),
    ...answerBase(beside),
  }),
  deny: (
    reason: string,
    { error, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly error?: Fault } = {},
  ): Deny => ({
    verdict: 'deny',
    enforced: false,
    ...answerBase({ ...beside, reason }),
    ...(error && { error }),
  }),
  ask: (
    reason: string,
    { replace, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly replace?: Json } = {},
  ): Ask => ({
    verdict: 'ask',
    ...answerBase({ ...beside, reason }),
    ...(replace && { replace }),
  }),
  respond: (result: unknown, beside: AnswerDetails = {}): Respond => ({
    verdict: 'respond',
    result: Json.from(result),
    ...answerBase(beside),
  }),
  abort: (
    reason: string,
    scope: Abort['scope'],
    { error, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly error?: Fault } = {},
  ): Abort => ({ verdict: 'abort', scope, ...answerBase({ ...beside, reason }), ...(error && { error }) }),
} as const;

/**
 * An answer or a decision as callers, agents and models get it. Of a hook that failed they learn the code and the words of the
 * catalogue: what its process wrote may quote the texts of another caller. Only the log has the rest, and `wholeFault`.
 */
export function withoutFaultText<Given extends { readonly reason: string; readonly error?: Fault }>(
  answer: Given,
): Given {
  if (answer.error === undefined) return answer;
  // That our side ended the exchange is said in our own words alone.
  if (isCancelled(answer.error) || wholeFaults.has(answer.error)) return answer;
  const error = withCatalogueText(answer.error);
  wholeFaults.set(error, { reason: answer.reason, error: answer.error });
  return { ...answer, reason: `the hook failed: ${error.message}`, error };
}

/** What `withoutFaultText` took out of a decision, for the person at the command line who runs the hook. */
export function wholeFault({ error }: Pick<Decision, 'error'>): WholeFault | undefined {
  return error && wholeFaults.get(error);
}

interface WholeFault {
  readonly reason: string;
  readonly error: Fault;
}

/** By the fault that stands in its place. */
const wholeFaults = new WeakMap<Fault, WholeFault>();

/** A tool call on its way; `args` is an object. */
export interface ToolHookRequest {
  readonly name: string;
  readonly args: unknown;
  readonly call_id: string;
  /** The model's own id for the call, of one that a model asked for; no member of the native payload. */
  readonly tool_use_id?: string | undefined;
  /** What kind of work the tool does, as the config has it: fs_read, fs_write, shell, network, … */
  readonly category?: string | undefined;
  /** Names that other systems have for the tool; foreign hooks are given the first. */
  readonly aliases?: readonly string[] | undefined;
  /** The tool does not exist, and no hook has answered in its place. */
  readonly isUnknown?: boolean | undefined;
}

/** What the model would see of a finished tool call; `error` is empty when it succeeded. */
export interface ToolHookResponse {
  readonly name: string;
  readonly call_id: string;
  readonly content: string;
  readonly error: string;
  readonly latency_ms: number;
  /** The result itself, of a call that succeeded; no member of the native payload. */
  readonly result?: Json | undefined;
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

/** The events of native hooks. Members are those of the native payload. */
export type NativeEvent =
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

/** A finished call, and what the model reads of it. `asked` are the arguments as the model wrote them. */
export interface EndedCall {
  readonly hook: 'tool';
  readonly request: ToolHookRequest;
  readonly asked: unknown;
  readonly response: ToolHookResponse;
  readonly status: 'ok' | 'failed' | 'denied';
  /** Why and where it was denied, if it was. */
  readonly denial?:
    | { readonly reason: string; readonly stage: 'before_execution' | 'approval' | 'after_execution' }
    | undefined;
  /** A flow control call: no process ran. */
  readonly isFlow: boolean;
}

/** A phase of a tool call that only foreign dialects have hooks for. */
export type CallEvent =
  /** Asked after all filters, of the call as they left it. `asked`: a hook wants a person to decide. */
  | {
      readonly hook: 'tool';
      readonly phase: 'approval';
      readonly request: ToolHookRequest;
      readonly asked: { readonly hook: string; readonly reason: string } | null;
    }
  /** The call was denied before it ran; `content` is what the model would read of that. */
  | {
      readonly hook: 'tool';
      readonly phase: 'blocked';
      readonly request: ToolHookRequest;
      readonly response: ToolHookResponse;
      readonly reason: string;
      /** Where it was denied; absent: not known. */
      readonly stage?: 'before_execution' | 'approval' | undefined;
    }
  /** Notified: the process is about to run with these arguments. */
  | { readonly hook: 'tool'; readonly phase: 'started'; readonly request: ToolHookRequest }
  /** Notified: the call has ended. */
  | (EndedCall & { readonly phase: 'finished' })
  /** Notified, in call order: all calls of the response have ended. */
  | (EndedCall & { readonly phase: 'returned' })
  /** Notified: the call is pending, a person has to decide. */
  | {
      readonly hook: 'tool';
      readonly phase: 'pending';
      readonly request: ToolHookRequest;
      /** Of the pending call, which is kept already. */
      readonly id: string;
      readonly message: string;
    };

/** A phase of a turn that only foreign dialects have hooks for. Hooks of the first seven are asked, the rest notified. */
export type TurnEvent =
  /** A person's message begins the turn. `replace` may have `prompt`. */
  | { readonly hook: 'turn'; readonly phase: 'prompt'; readonly turn: Turn }
  /** `replace` may have `system_prompt`. */
  | { readonly hook: 'turn'; readonly phase: 'system_prompt'; readonly turn: Turn }
  /** `replace` may have `tools: {include?, exclude?}`, lists of names. */
  | { readonly hook: 'turn'; readonly phase: 'tool_list'; readonly turn: Turn }
  /** `replace` may have `model`, `system_prompt`, `messages`, `tools`, `options`. */
  | { readonly hook: 'turn'; readonly phase: 'request'; readonly turn: Turn }
  /** `replace` may have `fallback`, `fuel`, `fuel_delta`. */
  | { readonly hook: 'turn'; readonly phase: 'loop'; readonly turn: Turn }
  /** After the last result of a response; `replace` as at `loop`. */
  | {
      readonly hook: 'turn';
      readonly phase: 'batch';
      readonly turn: Turn;
      readonly calls: readonly FinishedCall[];
    }
  /** An answer without tool calls, or the round limit. `replace` may have `follow_up`. */
  | {
      readonly hook: 'turn';
      readonly phase: 'stop';
      readonly turn: Turn;
      readonly response: string;
      readonly end: 'final_response' | 'max_iterations';
    }
  | { readonly hook: 'turn'; readonly phase: 'turn_start'; readonly turn: Turn }
  /** Notified: an answer without tool calls was accepted, the last of the turn or not; `prompt` is what it answers. */
  | {
      readonly hook: 'turn';
      readonly phase: 'answered';
      readonly turn: Turn;
      readonly response: string;
      readonly original_prompt: string;
    }
  /** The model is about to be called. */
  | { readonly hook: 'turn'; readonly phase: 'model_asked'; readonly turn: Turn }
  /** A model call has failed and is about to be made again. */
  | {
      readonly hook: 'turn';
      readonly phase: 'model_retried';
      readonly turn: Turn;
      /** From 1. */
      readonly retry: number;
      readonly max_retries: number;
      readonly error: Fault;
      readonly backoff_ms: number;
    }
  | {
      readonly hook: 'turn';
      readonly phase: 'model_answered';
      readonly turn: Turn;
      readonly message: ChatMessage;
    }
  | {
      readonly hook: 'turn';
      readonly phase: 'turn_end';
      readonly turn: Turn;
      /** The final answer; '' when there is none. */
      readonly response: string;
      readonly status: 'completed' | 'failed' | 'denied';
      /** A flow control tool, not the model, ended the turn. */
      readonly isHandedBack: boolean;
      readonly original_prompt: string;
      readonly duration_ms: number;
    }
  | {
      readonly hook: 'turn';
      readonly phase: 'error';
      readonly turn: Turn;
      readonly stage: 'llm';
      readonly error: Fault;
    };

/** An event that hooks are asked about or notified of. */
export type HookEvent = NativeEvent | CallEvent | TurnEvent;
export type EventKind = HookEvent['hook'];
export type EventPhase = HookEvent['phase'];
