import { type Fault, RuntimeError, toFault } from '../../base/errors.ts';
import { composeJson } from '../../base/json/compose.ts';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import type { CallResult, ToolDenied } from '../../calls/tool-call/callable-tool.ts';
import type { ToolStep } from '../file/pipeline.ts';
import type { RunContext } from '../state/run-context.ts';
import { hookContextOfRun } from '../state/session.ts';
import { failedStep, okStep, type StepOutcome } from '../state/step-outcome.ts';
import { attemptPathOf, evaluateIn, type StepContext } from '../state/step-scope.ts';
import { transientOfTool } from '../suspend/transient-fault.ts';
import { runCalls } from './calls.ts';

/** Calls the tool of a step. Throws what `runCalls` throws, EXPRESSION_FAILED and NAME_UNKNOWN. */
export async function runToolStep(run: RunContext, placed: StepContext<ToolStep>): Promise<StepOutcome> {
  const { step, name, scope } = placed;
  const tool = run.tools.get(step.tool);
  if (tool === undefined) throw new RuntimeError('NAME_UNKNOWN', `there is no tool "${step.tool}"`);
  const args = evaluateIn(scope, step.args);
  if (!isObject(args)) {
    throw new RuntimeError('ARGS_INVALID', `tool "${step.tool}": the arguments are not a JSON object`);
  }
  const path = attemptPathOf(placed);
  const call = {
    name: `${path}/call`,
    tool,
    args: stringifyJson(args),
    composed: composeJson(args),
    callId: callIdOf(run, path),
    edition: run.journal.editionOf?.(`${path}/call`),
    // Of every attempt, so that a tool that has acted, and whose answer was lost, does not act again.
    key: `${name}/call`,
  };
  const round = { scope, hookContext: hookContextOfRun(run), concurrency: 1, isDeferred: true };
  const [result] = await runCalls(run, [call], round);
  if (result === undefined) throw new RuntimeError('INTERNAL', `the call of ${name} came to nothing`);
  const { outcome, metadata } = result;
  if (outcome.status === 'denied' && outcome.abort === 'session') {
    run.session.ended ??= { ...outcome, isSession: true, metadata: metadata.value };
  }
  const made = toStepOutcome(step.tool, result);
  const transient = outcome.status === 'failed' ? transientOfTool(outcome.error, tool, call.name) : undefined;
  return transient === undefined ? made : { ...made, transient };
}

/** The id of a call for events and hooks; the same after a crash. */
export function callIdOf({ journal: { runId } }: RunContext, name: string): string {
  return `${runId}/${name}`;
}

function toStepOutcome(tool: string, { outcome, metadata }: CallResult): StepOutcome {
  const extra = metadata.text === '{}' ? {} : { metadata };
  switch (outcome.status) {
    case 'ok':
      return okStep({ result: outcome.result, ...extra });
    case 'failed':
      return failedStep('failed', outcome.error, extra);
    case 'denied': {
      const { hook, reason, abort } = outcome;
      const ends = abort === 'session' ? { abort } : {};
      return failedStep('denied', toDenial(tool, outcome), { hook, reason, ...ends, ...extra });
    }
    case 'pending':
      throw new RuntimeError('INTERNAL', `tool "${tool}" is still pending`);
  }
}

/** The fault of a denied call: the failure of the hook, or a DENIED fault with its reason. */
export function toDenial(tool: string, { hook, reason, error }: ToolDenied): Fault {
  const why = `tool "${tool}" was denied by hook "${hook}": ${reason}`;
  return error ?? toFault(new RuntimeError('DENIED', why));
}
