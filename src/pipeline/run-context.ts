import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { EvalOutcome, EvalRequest, Threshold } from '../contract/eval.ts';
import type { Emit } from '../contract/event.ts';
import type { SessionEvent } from '../contract/hook.ts';
import type { CallableTool } from './call.ts';
import type { Journal } from './journal.ts';

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

/** What a scored eval came to. */
export interface Judgement {
  readonly outcome: EvalOutcome;
  readonly passed: boolean;
  readonly durationMs: number;
  /** The end of what a one-shot process said on stderr. */
  readonly stderr: string;
}

/** Everything that the steps of a run may use. */
export interface Equipment {
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /** Throws PROVIDER_UNUSABLE, NAME_UNKNOWN. */
  model(provider: string, stream: 'hold' | 'windowed'): Promise<GuardedModel>;
  /** Scores, tells the eval hooks, and never rejects for what the eval does. Throws NAME_UNKNOWN. */
  score(asked: {
    readonly id: string;
    readonly type: string;
    readonly request: EvalRequest;
    readonly threshold: Threshold | undefined;
    readonly signal: AbortSignal;
  }): Promise<Judgement>;
  /** Tells the session hooks; returns at once. */
  tell(phase: 'session_start' | 'session_update' | 'session_end', event: SessionEvent): void;
  readonly emit: Emit;
}

/** One execution of a run: what its steps share. */
export interface RunContext extends Equipment {
  readonly journal: Journal;
  /** Ends the run; what was cut off is begun again when it is resumed. */
  readonly signal: AbortSignal;
  readonly session: Session;
}

/** How far a run's conversation has come. */
export interface Session {
  readonly id: string;
  turns: number;
}
