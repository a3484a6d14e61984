import type { Expression } from '../../expression/expression.ts';
import { parseLossless } from '../../json/json.ts';
import type { StepClock } from './step-clock.ts';
import type { StepOutcome } from './step-outcome.ts';

/** Where a step stands: what its expressions see, how its path begins, and what may end it early. */
export interface Scope {
  readonly input: unknown;
  /** The views of the steps that have ended, by id. */
  readonly steps: Record<string, unknown>;
  /** `item` and `index` inside a for_each, `error` inside an on_error. */
  readonly more: Readonly<Record<string, unknown>>;
  /** Empty, or a path that ends with `/`. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  /** The clocks of the steps around it, which stand still while a person is waited for. */
  readonly clocks: readonly StepClock[];
}

/** The value of an expression where the step stands. Throws EXPRESSION_FAILED. */
export function evaluateIn({ input, steps, more }: Scope, expression: Expression): unknown {
  return expression.evaluate({ input, steps, ...more });
}

/** Makes a step's outcome visible to those after it. */
export function note(scope: Scope, id: string, { view }: StepOutcome): void {
  // Frozen, so that expressions need to read it only once.
  scope.steps[id] = Object.freeze(parseLossless(view.text));
}

/** A scope of its own, which sees what the outer one has seen so far. */
export function branchOff(scope: Scope, changes: Partial<Scope> = {}): Scope {
  return { ...scope, steps: { ...scope.steps }, ...changes };
}
