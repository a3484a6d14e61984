import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { EvalOutcome, EvalRequest, Threshold } from '../../contract/eval.ts';
import type { Emit } from '../../contract/event.ts';
import type { HookEvent, SessionEvent } from '../../contract/hook.ts';
import type { Scene, Turn } from '../../contract/turn.ts';
import type { ForeignLink, Passage, Passed } from '../../hooks/gate.ts';
import type { OnRetry } from '../../provider/open/retries.ts';
import type { Took } from '../../time/stopwatch.ts';
import type { CallableTool } from '../../tool-call/callable.ts';
import type { Journal } from './journal.ts';
import type { Stopped } from './turn-record.ts';

/** A tool as a model is offered it. */
export interface OfferedTool extends CallableTool {
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | boolean | undefined;
}

/** A provider's model behind the guard, and how its calls are named. */
export interface GuardedModel {
  readonly model: LanguageModelV4;
  /** US dollars per 1,000 tokens. */
  readonly pricing: { readonly input: number; readonly output: number } | undefined;
}

/** A model call as it is made. */
export type AskedTurn = Pick<Turn, 'system_prompt' | 'messages' | 'tools' | 'model' | 'options'>;

/** How a model is to be had. */
export interface ModelRequest {
  /** Another of the provider's models, or another provider by its id or model. */
  readonly name?: string | undefined;
  /** Where its calls happen. */
  readonly scene?: Scene | undefined;
  /** Told when the hooks have let a call pass, and the model is about to be asked. */
  readonly onCall?: ((asked: AskedTurn) => void) | undefined;
  /** Told when a call of the model has failed and is about to be made again. */
  readonly onRetry?: OnRetry | undefined;
}

/** What a scored eval came to. */
export interface Judgement extends Took {
  readonly outcome: EvalOutcome;
  readonly passed: boolean;
  /** The end of what a one-shot process said on stderr. */
  readonly stderr: string;
}

/** Everything that the steps of a run may use. */
export interface Equipment {
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /** The provider's model, or another of its models; its calls happen in that scene. Throws PROVIDER_UNUSABLE, NAME_UNKNOWN. */
  model(provider: string, stream: 'hold' | 'windowed', options?: ModelRequest): Promise<GuardedModel>;
  /** The provider's own model, by name. */
  modelOf(provider: string): string;
  /** Scores, tells the eval hooks, and never rejects for what the eval does. Throws NAME_UNKNOWN. */
  score(asked: {
    readonly id: string;
    readonly type: string;
    readonly request: EvalRequest;
    readonly threshold: Threshold | undefined;
    readonly signal: AbortSignal;
  }): Promise<Judgement>;
  /** Takes an event through its whole chain. Never rejects. */
  fire(event: HookEvent, passage: Partial<Passage>): Promise<Passed>;
  /** Hooks of foreign dialects, which have more moments than native ones. */
  readonly links: readonly ForeignLink[];
  /** Texts for the model that hooks in the background have given since the last time. */
  takeLate(session: string): readonly string[];
  /** Tells the session hooks. Resolves when those are through that their own system waits for, or at `signal`. */
  tell(
    phase: 'session_start' | 'session_update' | 'session_end',
    event: SessionEvent,
    signal?: AbortSignal,
  ): Promise<void>;
  readonly emit: Emit;
}

/** One execution of a run: what its steps share. */
export interface RunContext extends Equipment {
  /** The pipeline's. */
  readonly name: string;
  /** Whether its conversation outlives this execution, and people may decide about its calls. */
  readonly isKept: boolean;
  readonly journal: Journal;
  /** Ends the run; what was cut off is begun again when it is resumed. */
  readonly signal: AbortSignal;
  readonly session: Session;
}

/** What hooks said at one beginning of a session: its start, or a resume. */
export interface SessionContext {
  /** Its entry in the journal. */
  readonly from: string;
  readonly texts: readonly string[];
}

/** How far a run's conversation has come. */
export interface Session {
  readonly id: string;
  turns: number;
  readonly isResumed: boolean;
  /** What hooks of the session's beginnings want the model to be given with its next call. */
  readonly context: SessionContext[];
  /** The hook that ended the session: no turn begins any more. */
  ended?: Stopped | undefined;
}
