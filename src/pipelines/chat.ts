import { type Fault, RuntimeError, toFault } from '../base/errors.ts';
import { isObject, Json } from '../base/json/json.ts';
import { completeMessage } from '../calls/hooks/replace.ts';
import { isReleasedAtEnd } from './chat/answer-request.ts';
import { evalContextOf } from './chat/model-usage.ts';
import {
  askForRepair,
  isRepairable,
  outputFault,
  type ReadOutput,
  readOutput,
} from './chat/structured-output.ts';
import { runTurnLoop } from './chat/turn-loop.ts';
import { beginTurn } from './chat/turn-start.ts';
import {
  createTurnState,
  type GuardrailResult,
  hasNoFuel,
  type TurnState,
  viewOf,
  visibleMessages,
} from './chat/turn-state.ts';
import type { ChatStep, Guardrail } from './file/pipeline.ts';
import { journalScore, thresholdFault } from './run/step-kinds.ts';
import type { RunContext } from './state/run-context.ts';
import { sessionEvent } from './state/session.ts';
import { failedStep, okStep, type StepOutcome } from './state/step-outcome.ts';
import { evaluateIn, type StepContext } from './state/step-scope.ts';
import { notifyAnswered, notifyTurn, stopTurn, type TurnContext } from './turn-hooks.ts';

/** Throws EXPRESSION_FAILED, and the errors that suspend the run (see `isSuspension`). */
export async function runChat(run: RunContext, chat: StepContext<ChatStep>): Promise<StepOutcome> {
  await run.prepareTools?.(chat.step.tools);
  const state = createTurnState(chat, listTools(run, chat.step));
  const turn = { run, number: run.session.turns + 1, chat, state };
  const { ended } = run.session;
  if (ended !== undefined) return stopTurn(turn, ended);
  const outcome = (await beginTurn(turn)) ?? (await runAttempts(turn));
  const status = outcome.status === 'ok' ? 'completed' : outcome.status === 'denied' ? 'denied' : 'failed';
  const response = status === 'completed' ? (state.answer?.message.content ?? '') : '';
  const duration_ms = Math.round(performance.now() - state.startedAt);
  const { isHandedBack, originalPrompt: original_prompt } = state;
  if (status === 'completed' && !isHandedBack) await notifyAnswered(turn);
  await notifyTurn(turn, { phase: 'turn_end', response, status, isHandedBack, original_prompt, duration_ms });
  return outcome;
}

async function runAttempts(turn: TurnContext): Promise<StepOutcome> {
  const { run, chat, state } = turn;
  const { step, scope } = chat;
  let retries = 0;
  let isRepaired = false;
  for (let attempt = 1; ; attempt += 1) {
    const end = await runTurnLoop(turn, attempt);
    if (end !== undefined) return end;
    const output = outputOf(step, state);
    if (output !== undefined && 'violations' in output) {
      const { violations } = output;
      if (isRepaired || !isRepairable(state))
        return failedStep('failed', outputFault(step, state, violations), viewOf(state, ''));
      isRepaired = true;
      askForRepair(state, violations);
      requireWanted(scope.signal);
      continue;
    }
    const checked = await checkAnswer(run, chat, { state, attempt });
    state.guardrails = checked.results;
    if (checked.fault === undefined) return await complete(turn, output?.object);
    if (retries >= step.retries || hasNoFuel(state)) return withholdAnswer(state, checked);
    retries += 1;
    isRepaired = false;
    // A retry gets all rounds again, limited by what is left of a hook's fuel.
    state.callsLeft = step.maxRounds;
    const feedback = completeMessage({ role: 'user', content: feedbackOf(checked) });
    if (state.answer !== undefined) state.withheld.add(state.answer.message).add(feedback);
    state.messages.push(feedback);
    requireWanted(scope.signal);
  }
}

function outputOf({ outputSchema }: ChatStep, { answer }: TurnState): ReadOutput | undefined {
  return outputSchema && readOutput(answer?.message.content ?? '', outputSchema);
}

function requireWanted({ aborted }: AbortSignal): void {
  if (aborted) throw new RuntimeError('ABORTED', 'the chat was cancelled');
}

function listTools(run: RunContext, { tools }: ChatStep): TurnState['offered'] {
  return tools.flatMap((name) => {
    const tool = run.tools.get(name);
    if (tool === undefined || tool.isAbsent === true) return [];
    const { description, inputSchema, category } = tool;
    return [{ name, description, input_schema: inputSchema, ...(category && { category }) }];
  });
}

async function complete(turn: TurnContext, object: Json | undefined): Promise<StepOutcome> {
  const { run, chat, state } = turn;
  run.session.turns += 1;
  const text = state.answer?.message.content ?? '';
  if (isReleasedAtEnd(turn)) run.emit({ type: 'text', run: run.journal.runId, step: chat.name, text });
  run.session.messages = visibleMessages(state);
  await run.notifySession('session_update', sessionEvent(run));
  return okStep({ ...viewOf(state, text), ...(object && { object }) });
}

function withholdAnswer(state: TurnState, { fault }: CheckedAnswer): StepOutcome {
  const text = 'This response was withheld by a guardrail.';
  if (state.answer !== undefined) state.withheld.add(state.answer.message);
  return failedStep('denied', fault ?? toFault(new Error('no guardrail failed')), viewOf(state, text));
}

interface CheckedAnswer {
  readonly results: readonly GuardrailResult[];
  readonly fault?: Fault;
}

async function checkAnswer(
  run: RunContext,
  chat: StepContext<ChatStep>,
  { state, attempt }: { readonly state: TurnState; readonly attempt: number },
): Promise<CheckedAnswer> {
  const results: GuardrailResult[] = [];
  let failing: Fault | undefined;
  for (const guardrail of chat.step.guardrails) {
    const path = `${chat.name}/attempt-${attempt}/guardrail-${guardrail.id}`;
    const scored = await journalScore(run, path, toRequest(run, chat, { guardrail, state }));
    const { score, passed, detail } = scored;
    results.push({ id: guardrail.id, action: guardrail.action, score, passed, detail });
    if (!passed && guardrail.action === 'enforce')
      failing ??= thresholdFault(guardrail.id, scored, guardrail.threshold ?? {});
  }
  return failing === undefined ? { results } : { results, fault: failing };
}

function toRequest(
  run: RunContext,
  { step, scope }: StepContext<ChatStep>,
  { guardrail, state }: { readonly guardrail: Guardrail; readonly state: TurnState },
) {
  const { id, type, threshold } = guardrail;
  const params = evaluateIn(scope, guardrail.params);
  const given = evaluateIn(scope, guardrail.context);
  const { variables, metadata } = isObject(given) ? given : {};
  const { vars } = scope.variables;
  const { provider = step.provider, model = state.model } = state.answer ?? {};
  const latencyMs = Math.round(performance.now() - state.startedAt);
  const toolCalls = state.toolCalls.map(({ name, args, content, error, index }) => {
    return { name, args, result: content, error, index };
  });
  const { messages, usage } = state;
  const seen = evalContextOf([{ messages, toolCalls, usage, provider, model }], latencyMs);
  return {
    id,
    type,
    threshold,
    signal: scope.signal,
    content: state.answer?.message.content ?? '',
    params: isObject(params) ? Json.from(params) : new Json('{}'),
    context: {
      session_id: run.session.id,
      turn_index: run.session.turns,
      ...seen,
      variables: { ...(isObject(vars) && vars), ...(isObject(variables) && variables) },
      // Measured values override the file's metadata.
      metadata: { ...(isObject(metadata) && metadata), ...seen.metadata },
    },
  };
}

function feedbackOf({ results }: CheckedAnswer): string {
  const complaints = results
    .filter(({ passed, action }) => !passed && action === 'enforce')
    .map(({ id, detail }) => `- ${id}${detail === '' ? '' : `: ${detail}`}`);
  return ['Your answer did not pass these checks. Answer again, so that it does.', ...complaints].join('\n');
}
