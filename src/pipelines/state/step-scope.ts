import type { Fault } from '../../base/errors.ts';
import type { Expression } from '../../base/expression/expression.ts';
import { parseParted } from '../../base/json/parted.ts';
import { startTimer } from '../../base/time/deadline.ts';
import type { Step } from '../file/pipeline.ts';
import type { StepOutcome } from './step-outcome.ts';

export interface Scope {
  readonly input: unknown;
  readonly steps: Record<string, unknown>;
  /** `item` and `index` inside a for_each, `error` inside an on_error. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Empty, or a path that ends with `/`. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  /** The timeout clocks of the enclosing steps, paused while the run waits for a person. */
  readonly clocks: readonly StepClock[];
  /** Whether an enclosing step retries or handles this fault, so that it does not end the run. Absent: none does. */
  readonly handles?: ((fault: Fault) => boolean) | undefined;
}

export interface StepContext<Kind extends Step = Step> {
  readonly step: Kind;
  readonly name: string;
  readonly scope: Scope;
  /** Failed attempts before this one. Default: 0. */
  readonly retries?: number;
}

export function attemptPathOf({ name, retries = 0 }: Pick<StepContext, 'name' | 'retries'>): string {
  return retries === 0 ? name : `${name}/retry-${retries}`;
}

/** Throws EXPRESSION_FAILED. */
export function evaluateIn({ input, steps, variables }: Scope, expression: Expression): unknown {
  return expression.evaluate({ input, steps, ...variables });
}

export function recordOutcome(scope: Scope, id: string, { view }: StepOutcome): void {
  // Frozen, so that it is read once; long values are read on access.
  scope.steps[id] = parseParted(view);
}

/** Outcomes recorded in the copy are not visible in the original. */
export function forkScope(scope: Scope, changes: Partial<Scope> = {}): Scope {
  return { ...scope, steps: { ...scope.steps }, ...changes };
}

/** A step's timeout, paused while the run waits for a person. */
export interface StepClock {
  readonly signal: AbortSignal;
  pause(): void;
  resume(): void;
}

/** Pauses nest. The timer keeps the process alive unless the clock is paused. */
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
