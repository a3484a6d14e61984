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
import type { StepEntry } from './step-outcome.ts';
import type { TurnStop } from './turn-record.ts';

export interface OfferedTool extends CallableTool {
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | boolean | undefined;
  /** The tool of an MCP server that has no such tool, or cannot be reached: it is not offered, and a call fails. */
  readonly isAbsent?: boolean;
}

export interface GuardedModel {
  readonly model: LanguageModelV4;
  /** In US dollars per 1,000 tokens, for the requested provider. */
  readonly pricing: Pricing;
  /** Returns undefined before an answer, or if hooks answered. */
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
  /** Another model of the provider, or another provider by id or model. */
  readonly name?: string | undefined;
  /** The texts to embed, for an embedding call. */
  readonly embeds?: readonly string[] | undefined;
  readonly hookContext?: HookContext | undefined;
  /** Called after the before_call hooks have allowed a call, just before the model call. */
  readonly onCall?: ((asked: ModelCallParameters) => void) | undefined;
  readonly onRetry?: OnRetry | undefined;
}

export interface JudgedEval extends Timing {
  readonly outcome: EvalOutcome;
  readonly passed: boolean;
  readonly stderr: string;
}

export interface Services {
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /** Connects the MCP servers to which these tools belong. Never rejects. */
  readonly prepareTools?: ((names: readonly string[]) => Promise<void>) | undefined;
  /** `options` may select another model by name. Throws PROVIDER_UNUSABLE, NAME_UNKNOWN. */
  model(provider: string, stream: 'hold' | 'windowed', options?: ModelRequest): Promise<GuardedModel>;
  modelOf(provider: string): string;
  /** Notifies the eval hooks, too; a failing eval is an outcome. Throws NAME_UNKNOWN, RUNTIME_CLOSED, USAGE. */
  score(asked: {
    readonly id: string;
    readonly type: string;
    readonly request: EvalRequest;
    readonly threshold: Threshold | undefined;
    readonly signal: AbortSignal;
    /** For an eval that takes batches: send with others, or as a batch of one. Default: a single request. */
    readonly batch?: 'together' | 'alone' | undefined;
  }): Promise<JudgedEval>;
  /** Never rejects. */
  fire(event: HookEvent, options: Partial<GateOptions>): Promise<ChainResult>;
  readonly links: readonly ForeignLink[];
  takeLateContext(session: string): readonly string[];
  /** Resolves when the hooks that their dialect awaits have ended, or on `signal`. */
  notifySession(
    phase: 'session_start' | 'session_update' | 'session_end',
    event: SessionEvent,
    signal?: AbortSignal,
  ): Promise<void>;
  readonly emit: Emit;
  /** The values count as secrets from then on. Throws ENV_MISSING. */
  readEnv(names: readonly string[]): Readonly<Record<string, string>>;
}

export interface RunContext extends Services {
  readonly name: string;
  readonly labels: Readonly<Record<string, unknown>>;
  /** Whether a transient fault that would end the run suspends it. Default: false. */
  readonly suspendsOnFault?: boolean;
  /** A `wait` with more time left, in ms, suspends the run. Default: this process waits. */
  readonly longestWaitMs?: number | undefined;
  /** Whether the run is stored, so that it can be resumed and its pending calls decided later. */
  readonly isKept: boolean;
  /** Whether the host made the only call of the run. */
  readonly isByHost?: boolean;
  readonly journal: Journal;
  /** Called for each step of this run that ends, in the order of the store. Must not throw. */
  readonly onStep?: ((name: string, entry: StepEntry) => void) | undefined;
  /** Suspends the run; interrupted work starts again on resume. */
  readonly signal: AbortSignal;
  readonly session: Session;
  /** The outermost run's retry of this execution; 0: none. */
  readonly retry: number;
  /** The path in the outermost run: empty, or ending with `/`. */
  readonly place: string;
  readonly runBelow: RunBelow<RunContext>;
}

interface SessionContext {
  readonly from: string;
  readonly texts: readonly string[];
}

export interface Session {
  readonly id: string;
  turns: number;
  messages: readonly ChatMessage[];
  readonly isResumed: boolean;
  readonly context: SessionContext[];
  /** Set if a hook ended the session: no further turn begins. */
  ended?: TurnStop | undefined;
}
