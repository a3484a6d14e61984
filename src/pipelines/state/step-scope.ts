import type { Fault } from '../../base/errors.ts';
import type { Expression } from '../../base/expression/expression.ts';
import { parseParted } from '../../base/json/parted.ts';
import { startTimer } from '../../base/time/deadline.ts';
import type { Step } from '../file/pipeline.ts';
import type { StepOutcome } from './step-outcome.ts';

/**
 * The scope of a step: what its expressions see, the prefix of its path, and the signal that ends it early.
 */
export interface Scope {
  readonly input: unknown;
  /** The views of the steps that have ended, by id. */
  readonly steps: Record<string, unknown>;
  /** `item` and `index` inside a for_each, `error` inside an on_error. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Empty, or a path that ends with `/`. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  /** The timeout clocks of the enclosing steps, paused while the run waits for a person. */
  readonly clocks: readonly StepClock[];
  /** Whether a failure by this fault does not end the run: a step around tries again or handles it. Absent: none is handled. */
  readonly handles?: ((fault: Fault) => boolean) | undefined;
}

export interface StepContext<Kind extends Step = Step> {
  readonly step: Kind;
  readonly name: string;
  readonly scope: Scope;
  /** Attempts that have failed before this one. Default: 0. */
  readonly retries?: number;
}

/** The path of this attempt at a step, below which the journal keeps what it did. */
export function attemptPathOf({ name, retries = 0 }: Pick<StepContext, 'name' | 'retries'>): string {
  return retries === 0 ? name : `${name}/retry-${retries}`;
}

/** The value of an expression in this scope. Throws EXPRESSION_FAILED. */
export function evaluateIn({ input, steps, variables }: Scope, expression: Expression): unknown {
  return expression.evaluate({ input, steps, ...variables });
}

/** Makes a step's outcome visible to those after it. */
export function recordOutcome(scope: Scope, id: string, { view }: StepOutcome): void {
  // Frozen, so that expressions need to read it only once; what is long is read when one looks at it.
  scope.steps[id] = parseParted(view);
}

/** A copy of the scope with these changes; outcomes recorded in it are not seen in the original. */
export function forkScope(scope: Scope, changes: Partial<Scope> = {}): Scope {
  return { ...scope, steps: { ...scope.steps }, ...changes };
}

/** A step's timeout, which is paused while the run waits for a person. */
export interface StepClock {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  pause(): void;
  resume(): void;
}

/** Starts a clock. Pauses nest; the timer keeps the process alive unless the clock is paused. */
export function startClock(timeoutMs: number): StepClock {
  const timeout = new AbortController();
  const timer = startTimer({ timeoutMs }, () => timeout.abort());
  let pauses = 0;
  return {
    signal: timeout.signal,
    pause: () => {
      pauses += 1;
      if (pauses === 1) timer.pause();
    },
    resume: () => {
      pauses -= 1;
      if (pauses === 0 && !timeout.signal.aborted) timer.resume();
    },
  };
}
