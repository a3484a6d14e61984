import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Timing } from '../../base/time/stopwatch.ts';
import type { ChainResult, ForeignLink, GateOptions } from '../../calls/hooks/gate.ts';
import type { CallableTool } from '../../calls/tool-call/callable-tool.ts';
import type { EvalOutcome, EvalRequest, Threshold } from '../../contract/eval.ts';
import type { Emit } from '../../contract/event.ts';
import type { HookEvent, SessionEvent } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { HookContext, Turn } from '../../contract/turn.ts';
import type { OnRetry } from '../../models/call-scope.ts';
import type { Journal } from './journal.ts';
import type { RunBelow } from './run-below.ts';
import type { TurnStop } from './turn-record.ts';

export interface OfferedTool extends CallableTool {
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | boolean | undefined;
}

/** A provider's guarded model, or one that asks its fallbacks too. */
export interface GuardedModel {
  readonly model: LanguageModelV4;
  /** US dollars per 1,000 tokens; of the provider that was asked for. */
  readonly pricing: Pricing;
  /** Who has answered the last call; undefined while nobody has, or where hooks have. */
  answeredBy(): Answerer | undefined;
}

export interface Answerer {
  readonly provider: string;
  readonly model: string;
  readonly pricing: Pricing;
}

type Pricing = { readonly input: number; readonly output: number } | undefined;

export type ModelCallParameters = Pick<Turn, 'system_prompt' | 'messages' | 'tools' | 'model' | 'options'>;

export interface ModelRequest {
  /** Another of the provider's models, or another provider by its id or model. */
  readonly name?: string | undefined;
  /** The texts that it is to embed, by its one call; absent: it is to answer. */
  readonly embeds?: readonly string[] | undefined;
  readonly hookContext?: HookContext | undefined;
  /** Called after the before_call hooks allowed a call, just before the model is called. */
  readonly onCall?: ((asked: ModelCallParameters) => void) | undefined;
  /** Called when a model call has failed and is about to be retried. */
  readonly onRetry?: OnRetry | undefined;
}

interface JudgedEval extends Timing {
  readonly outcome: EvalOutcome;
  readonly passed: boolean;
  /** The end of what a one-shot process said on stderr. */
  readonly stderr: string;
}

export interface Services {
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /**
   * Opens the guarded model of a provider, or another of its models by name. Throws PROVIDER_UNUSABLE,
   * NAME_UNKNOWN.
   */
  model(provider: string, stream: 'hold' | 'windowed', options?: ModelRequest): Promise<GuardedModel>;
  /** The provider's own model, by name. */
  modelOf(provider: string): string;
  /**
   * Scores and notifies the eval hooks; a failing eval is an outcome. Throws NAME_UNKNOWN, RUNTIME_CLOSED,
   * USAGE.
   */
  score(asked: {
    readonly id: string;
    readonly type: string;
    readonly request: EvalRequest;
    readonly threshold: Threshold | undefined;
    readonly signal: AbortSignal;
    /**
     * Of an eval that takes batches: whether the request may be sent with others, or alone as a batch of one. Default: as
     * a single request.
     */
    readonly batch?: 'together' | 'alone' | undefined;
  }): Promise<JudgedEval>;
  /** Passes an event through its whole hook chain. Never rejects. */
  fire(event: HookEvent, options: Partial<GateOptions>): Promise<ChainResult>;
  /** The links of foreign dialects, which have more phases than native hooks. */
  readonly links: readonly ForeignLink[];
  /** Takes the texts for the model that background hooks have given since the last call. */
  takeLateContext(session: string): readonly string[];
  /** Notifies the session hooks. Resolves when those that their dialect awaits have ended, or on `signal`. */
  notifySession(
    phase: 'session_start' | 'session_update' | 'session_end',
    event: SessionEvent,
    signal?: AbortSignal,
  ): Promise<void>;
  readonly emit: Emit;
  /** The values of environment variables, which are secrets from then on. Throws ENV_MISSING. */
  readEnv(names: readonly string[]): Readonly<Record<string, string>>;
}

/** One execution of a run: what its steps share. */
export interface RunContext extends Services {
  readonly name: string;
  readonly labels: Readonly<Record<string, unknown>>;
  /** Whether a fault that may be gone later, and would end the run, suspends it. Default: false. */
  readonly suspendsOnFault?: boolean;
  /** A `wait` that has longer to go, in ms, sets the run down, unless a timeout around it goes on. Default: it is waited for in this process. */
  readonly longestWaitMs?: number | undefined;
  /** Whether the run is stored, so that it can be resumed and its pending calls decided later. */
  readonly isKept: boolean;
  readonly journal: Journal;
  /** Suspends the run; work that was cut off starts again on resume. */
  readonly signal: AbortSignal;
  readonly session: Session;
  /** Which retry of the outermost run this execution belongs to; 0: none. */
  readonly retry: number;
  /** Where the run stands in the outermost one: empty, or a path that ends with `/`. */
  readonly place: string;
  readonly runBelow: RunBelow<RunContext>;
}

/** The context that hooks gave at the start or at one resume of a session. */
interface SessionContext {
  /** The name of its journal step. */
  readonly from: string;
  readonly texts: readonly string[];
}

/** The state of a run's session across its turns. */
export interface Session {
  readonly id: string;
  turns: number;
  /** The conversation of the last turn, as the model and the tools have left it. */
  messages: readonly ChatMessage[];
  readonly isResumed: boolean;
  /** Context of session start and resume hooks that the model has not been given yet. */
  readonly context: SessionContext[];
  /** Set when a hook ended the session: no further turn begins. */
  ended?: TurnStop | undefined;
}
