import { type Fault, RuntimeError, toRuntimeError } from '../../errors.ts';
import { passGate } from '../../hooks/gate.ts';
import { Json, parseLossless } from '../../json/json.ts';
import { stoppedBy } from '../chat/turn-hooks.ts';
import type { Pipeline } from '../file/model.ts';
import { RunPaused } from '../state/journal.ts';
import type { RunContext } from '../state/run-context.ts';
import { evaluateIn, type Scope } from '../state/scope.ts';
import { sceneOfRun, sessionEvent } from '../state/session-event.ts';
import { requireFinished, setsDown } from '../state/suspend.ts';
import type { Stopped } from '../state/turn-record.ts';
import { runSteps } from './steps.ts';

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
  await startSession(run, isResumed);
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

/** Hooks whose answer is for the model are awaited; what they say joins the next model call. */
async function startSession(run: RunContext, isResumed: boolean): Promise<void> {
  if (!isResumed) await run.tell('session_start', sessionEvent(run));
  if (run.links.length === 0) return;
  const names = beginningsIn(run.journal);
  const known = names.slice(0, -1);
  for (const name of known) takeBeginning(run, name, run.journal.find(name));
  const next = names.at(-1) ?? sessionStart;
  // Whoever was not asked when it began is asked now.
  const isAgain = next !== sessionStart;
  const links = isAgain ? run.links.filter(({ group }) => group.dialect.hearsResume === true) : run.links;
  if (links.length === 0) return;
  const entry = await run.journal.step(next, async () => {
    const event = { hook: 'session', phase: 'session_start', event: sessionEvent(run) } as const;
    const scene = sceneOfRun(run);
    const { decision } = await passGate(links, event, { call: run.journal.runId, scene, signal: run.signal });
    requireFinished(run, decision.error);
    return Json.from({ context: decision.context, stopped: stoppedBy(decision) });
  });
  takeBeginning(run, next, entry);
}

const sessionStart = '@session/start';

/** The beginnings of the session that the journal has, in order, and the name of the next one. */
function beginningsIn({ find }: RunContext['journal']): string[] {
  const names = [sessionStart];
  for (let count = 1; find(names.at(-1) ?? '') !== undefined; count += 1) {
    names.push(count === 1 ? '@session/resume' : `@session/resume-${count}`);
  }
  return names;
}

function takeBeginning({ session }: RunContext, from: string, entry: Json | undefined): void {
  if (entry === undefined) return;
  // What `startSession` wrote.
  const { context, stopped } = entry.value as {
    readonly context: readonly string[];
    readonly stopped?: Stopped;
  };
  if (context.length > 0) session.context.push({ from, texts: context });
  session.ended ??= stopped;
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
