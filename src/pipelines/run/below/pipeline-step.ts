import { createHash } from 'node:crypto';
import { stringifyJson } from '../../../base/json/json.ts';
import type { PipelineStep } from '../../file/pipeline.ts';
import { findRecord, journalStep } from '../../state/record.ts';
import { belowName, belowRecord, type EndBelow } from '../../state/run-below.ts';
import type { RunContext } from '../../state/run-context.ts';
import { failedStep, okStep, type StepOutcome } from '../../state/step-outcome.ts';
import { attemptPathOf, evaluateIn, type StepContext } from '../../state/step-scope.ts';
import { readInput, requireInput } from '../run-input.ts';

/**
 * Runs a pipeline as a run of its own. Which one is kept before it begins, so that after a crash the same run is gone on with.
 * Throws INPUT_INVALID, EXPRESSION_FAILED, and what suspends a run.
 */
export async function runPipelineStep(
  run: RunContext,
  placed: StepContext<PipelineStep>,
): Promise<StepOutcome> {
  const { step, name, scope, retries = 0 } = placed;
  const { pipeline } = step;
  const path = attemptPathOf(placed);
  const place = { name: belowName(path), kind: belowRecord };
  const readGiven = () => {
    const given = readInput(stringifyJson(evaluateIn(scope, step.input)));
    requireInput(pipeline, given);
    return given;
  };
  const known = findRecord(run.journal, place.name, belowRecord);
  const given = known === undefined ? readGiven() : undefined;
  const edition = run.journal.editionOf?.(place.name) ?? 0;
  const { run_id: id } =
    known ??
    (await journalStep(
      run.journal,
      place,
      async () => ({ run_id: idOf(run.journal.runId, path, edition), retry: run.retry }),
      { holdsSteps: true },
    ));
  const end = await run.runBelow(run, {
    ...{ id, pipeline, step: name, known, scope },
    input: () => given ?? readGiven(),
    isRepeated: retries > 0 || edition > 0,
  });
  return toStepOutcome(end, { id, name, pipeline: pipeline.name });
}

/** The same for the same attempt, whoever makes it. */
function idOf(runId: string, path: string, edition: number): string {
  const digest = createHash('sha256').update(`${runId}\n${path}\n${edition}`).digest('hex');
  return `run_${digest.slice(0, 16)}`;
}

function toStepOutcome(
  { status, output, error, failedAt, transient }: EndBelow,
  { id, name, pipeline }: { readonly id: string; readonly name: string; readonly pipeline: string },
): StepOutcome {
  if (status === 'completed') return okStep({ output, run_id: id });
  const { code = 'INTERNAL', message = '', hint = '' } = error ?? {};
  const where = failedAt === undefined ? '' : `, step "${failedAt}"`;
  const fault = { code, message: `pipeline "${pipeline}"${where}: ${message}`, hint };
  const at = failedAt === undefined ? {} : { failed_at: failedAt };
  const outcome = failedStep(status, fault, { output: null, run_id: id, ...at });
  return {
    ...outcome,
    ...(failedAt !== undefined && { failedAt: `${name}/${failedAt}` }),
    ...(transient && { transient: { ...transient, at: `${name}/${transient.at}` } }),
  };
}
