import { type Fault, RuntimeError, toRuntimeError } from '../errors.ts';
import { Json, parseLossless } from '../json.ts';
import { RunPaused } from './journal.ts';
import type { Pipeline } from './model.ts';
import type { RunContext } from './run-context.ts';
import { runSteps } from './run-steps.ts';
import { evaluateIn, type Scope } from './scope.ts';
import { sessionEvent } from './session-event.ts';
import { setsDown } from './set-down.ts';

/** What a run came to, when it came to an end. */
export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'denied';
  readonly output: Json | null;
  readonly error: Fault | null;
}

/**
 * Runs a pipeline, or what the journal says is left of it. Undefined when it was set down to wait for a
 * person. Throws ABORTED when `signal` ended it, and STORE_FAILED; both leave it to be resumed.
 */
export async function runPipeline(
  run: RunContext,
  pipeline: Pipeline,
  { input, isResumed }: { readonly input: Json; readonly isResumed: boolean },
): Promise<RunEnd | undefined> {
  const scope: Scope = {
    input: parseLossless(input.text),
    steps: {},
    more: {},
    prefix: '',
    signal: run.signal,
    clocks: [],
  };
  if (!isResumed) run.tell('session_start', sessionEvent(run));
  try {
    const stop = await runSteps(run, pipeline.steps, scope);
    if (stop !== undefined) {
      const status = stop.status === 'denied' ? 'denied' : 'failed';
      return { status, output: null, error: stop.error ?? null };
    }
    return { status: 'completed', output: outputOf(pipeline, scope), error: null };
  } catch (error) {
    if (error instanceof RunPaused) return undefined;
    if (setsDown(run, error)) throw error;
    const { code, message, hint } = toRuntimeError(error);
    return { status: 'failed', output: null, error: { code, message, hint } };
  }
}

function outputOf({ output, steps }: Pipeline, scope: Scope): Json {
  if (output !== undefined) return Json.from(evaluateIn(scope, output));
  const last = steps.at(-1);
  return Json.from(last === undefined ? null : (scope.steps[last.id] ?? null));
}

/** Throws INPUT_INVALID with every violation of the pipeline's input schema. */
export function requireInput({ name, checkInput }: Pipeline, input: Json): void {
  const violations = checkInput(input.value);
  if (violations.length === 0) return;
  throw new RuntimeError(
    'INPUT_INVALID',
    `the input of pipeline "${name}" does not fit its schema: ${violations.join('; ')}`,
  );
}
