import type { FinishedCall } from '../../contract/turn.ts';
import { type FailedOpen, failedOpenIn } from '../../dialects/metadata.ts';
import { type Fault, RuntimeError, toFault } from '../../errors.ts';
import type { CallResult } from '../../hooks/call-result.ts';
import { completeMessage, textsAt, withTextAt } from '../../hooks/message.ts';
import { isObject, Json } from '../../json/json.ts';
import { unknownTool } from '../../tool-call/before-execution.ts';
import type { PlannedCall } from '../../tool-call/pending-call.ts';
import { runCalls } from '../run/calls.ts';
import { callIdOf } from '../run/tool-step.ts';
import type { ModelAnswer } from '../state/answer-record.ts';
import { failedStep, type StepOutcome } from '../state/step-outcome.ts';
import { journalModelCall } from './journaled-model-call.ts';
import { chargeRound } from './loop-control.ts';
import { usageOfFailedCall } from './model-usage.ts';
import { reprompt } from './reprompt.ts';
import { idOf, type RequestedCall, toolCallsOf } from './requested-calls.ts';
import { takeExtraContext } from './session-context.ts';
import { isReleasedAtEnd } from './text-release.ts';
import { appendResults } from './tool-results.ts';
import { endTurn, fireBatch, hookContextOf, notifyTurn, stopTurn, type TurnContext } from './turn-hooks.ts';
import { viewOf } from './turn-state.ts';

/**
 * Runs rounds until the model answers without tool calls (undefined), or returns the outcome that ended the
 * turn.
 */
export async function runTurnLoop(turn: TurnContext, attempt: number): Promise<StepOutcome | undefined> {
  const { chat, state } = turn;
  state.isLastRound = false;
  // The first model call is always made, even when no rounds are left.
  for (let round = 1; round === 1 || state.roundsLeft > 0; round += 1) {
    const path = `${chat.name}/attempt-${attempt}/round-${round}`;
    const end = await runRound(turn, path);
    if (end === 'go on') continue;
    return end === 'answered' ? undefined : end;
  }
  return await endAtRoundLimit(turn, `${chat.name}/attempt-${attempt}`);
}

type RoundEnd = 'go on' | 'answered' | StepOutcome;

/** One model call and the tool calls that it asks for. */
async function runRound(turn: TurnContext, path: string): Promise<RoundEnd> {
  const { state } = turn;
  const failed = await requestAnswer(turn, path);
  if (failed !== undefined) return failed;
  const requested = state.answer === undefined ? [] : toolCallsOf(state.answer.message);
  if (requested.length === 0) {
    chargeRound(state);
    return await finishTurn(turn, path);
  }
  const results = await callTools(turn, path, requested);
  const calls = appendResults(state, requested, results);
  const ended = results.find(({ outcome }) => outcome.status === 'denied' && outcome.abort !== undefined);
  if (ended?.outcome.status === 'denied') {
    const { hook, reason, abort } = ended.outcome;
    const isSession = abort === 'session';
    return stopTurn(turn, { hook, reason, isSession, metadata: ended.metadata.value });
  }
  const stopped = await fireBatch(turn, path, calls);
  if (stopped !== undefined) return stopped;
  // Hooks of the batch see the rounds left before this round is charged.
  chargeRound(state);
  if (isHandled(turn, results)) return 'answered';
  return isHandedBack(turn, calls, results) ? 'answered' : 'go on';
}

async function requestAnswer(turn: TurnContext, path: string): Promise<StepOutcome | undefined> {
  const { run, chat, state } = turn;
  const { step, name, scope } = chat;
  const isLate = isReleasedAtEnd(turn);
  const extraTexts = await takeExtraContext(run, path);
  if (extraTexts.length > 0)
    state.messages.push(completeMessage({ role: 'user', content: extraTexts.join('\n') }));
  let isNew = false;
  const answer = await journalModelCall(run, path, {
    step,
    state,
    hookContext: hookContextOf(turn),
    signal: scope.signal,
    onCall: (asked) => void notifyTurn(turn, { phase: 'model_asked' }, asked),
    onRetry: ({ attempt: retry, maxRetries: max_retries, error, backoffMs: backoff_ms }) =>
      void notifyTurn(turn, {
        phase: 'model_retried',
        retry,
        max_retries,
        error: toFault(error),
        backoff_ms,
      }),
    onAnswer: () => {
      isNew = true;
    },
    onText: (text) => {
      if (!isLate) run.emit({ type: 'text', run: run.journal.runId, step: name, text });
    },
  });
  if ('error' in answer) return await failRound(turn, answer.error);
  addAnswer(turn, answer);
  if (isNew) await notifyTurn(turn, { phase: 'model_answered', message: answer.message });
  return undefined;
}

async function failRound(turn: TurnContext, error: Fault): Promise<StepOutcome> {
  const { details } = error;
  turn.state.usage.push(...usageOfFailedCall(error));
  turn.state.failedOpen.push(...failedOpenIn(Json.from(details?.['metadata'] ?? {})));
  if (error.code !== 'DENIED') await notifyTurn(turn, { phase: 'error', stage: 'llm', error });
  else if (details?.['abort'] !== undefined) {
    const { hook, reason, abort } = details;
    const stopped = {
      hook: String(hook),
      reason: String(reason),
      isSession: abort === 'session',
      metadata: details['metadata'],
    };
    return stopTurn(turn, stopped);
  }
  return failedStep(error.code === 'DENIED' ? 'denied' : 'failed', error, viewOf(turn.state, ''));
}

function addAnswer({ state }: TurnContext, answer: ModelAnswer): void {
  state.rounds += 1;
  state.answer = answer;
  state.messages.push(answer.message);
  state.failedOpen.push(...failuresAround(answer));
  const { usage, cost_usd } = answer;
  state.usage.push({ ...usage, ...(cost_usd !== undefined && { cost_usd }) });
}

/** The hooks that failed open at before_call and after_call of a model call. */
function failuresAround({ metadata: { value } }: ModelAnswer): FailedOpen[] {
  return ['before_call', 'after_call'].flatMap((phase) => {
    const report = isObject(value) ? value[phase] : undefined;
    return failedOpenIn(Json.from(isObject(report) ? report['metadata'] : {}));
  });
}

/** Makes the calls of one answer; those that must run alone come after the others. */
async function callTools(
  turn: TurnContext,
  path: string,
  requested: readonly RequestedCall[],
): Promise<CallResult[]> {
  const { run, chat } = turn;
  const { scope, step } = chat;
  const calls = requested.map((call, position) => planCall(turn, `${path}/call-${position + 1}`, call));
  const isExclusive = ({ tool }: PlannedCall) => tool.isExclusive === true || tool.flow !== undefined;
  const concurrentCalls = calls.filter((call) => !isExclusive(call));
  const hookContext = hookContextOf(turn);
  const deferred = new Map<string, () => Promise<void>>();
  const deferNotification = (name: string, notify: () => Promise<void>) => deferred.set(name, notify);
  const roundContext = { scope, hookContext: hookContext, deferNotification: deferNotification };
  try {
    const first = await runCalls(run, concurrentCalls, {
      ...roundContext,
      concurrency: step.toolConcurrency,
    });
    const results = new Map(concurrentCalls.map((call, index) => [call.name, first[index]]));
    for (const call of calls.filter(isExclusive)) {
      const [result] = await runCalls(run, [call], { ...roundContext, concurrency: 1 });
      results.set(call.name, result);
    }
    return calls.flatMap(({ name }) => results.get(name) ?? []);
  } finally {
    // Also for calls made before the run was suspended: they are not made again.
    for (const { name } of calls) await deferred.get(name)?.();
  }
}

/** The call of an offered tool; any other name is an unknown tool, which only hooks can answer. */
function planCall(
  { run, chat, state }: TurnContext,
  name: string,
  { id, name: tool, args }: RequestedCall,
): PlannedCall {
  const isOffered = chat.step.tools.includes(tool) && state.offered.some((each) => each.name === tool);
  const known = isOffered ? run.tools.get(tool) : undefined;
  const callId = callIdOf(run, name);
  return { name, tool: known ?? unknownTool(tool, run), args, callId, toolUseId: idOf({ id }, callId) };
}

/** Whether hooks answered every call of the round for the caller; their texts are then the final answer. */
function isHandled({ state }: TurnContext, results: readonly CallResult[]): boolean {
  const texts = results.flatMap(({ handled }) => (handled === undefined ? [] : [handled]));
  if (texts.length === 0 || texts.length < results.length || state.answer === undefined) return false;
  const message = completeMessage({ role: 'assistant', content: texts.join('\n') });
  state.answer = { ...state.answer, message, finish_reason: 'stop', metadata: new Json('{}') };
  state.messages.push(message);
  return true;
}

/** Whether a flow control tool ended the turn; its text is then the final answer. */
function isHandedBack(
  { run, state }: TurnContext,
  calls: readonly FinishedCall[],
  results: readonly CallResult[],
): boolean {
  const end = calls.find(
    ({ name }, index) =>
      run.tools.get(name)?.flow?.endsTurn === true && results[index]?.outcome.status === 'ok',
  );
  if (end === undefined || state.answer === undefined) return false;
  state.isHandedBack = true;
  const message = completeMessage({ role: 'assistant', content: end.content });
  state.answer = { ...state.answer, message, finish_reason: 'stop' };
  state.messages.push(message);
  return true;
}

/** Handles an answer without tool calls: it ends the turn, unless a stop hook or a reprompt continues it. */
async function finishTurn(turn: TurnContext, path: string): Promise<RoundEnd> {
  const { state } = turn;
  const end = await endTurn(turn, path, 'final_response');
  if (end.kind === 'stopped') return end.outcome;
  if (end.kind === 'go on') return continueWith(turn, end.followUp);
  if (state.fallback === 'call_agent' && state.roundsLeft > 0) {
    return (await reprompt(turn, path)) ?? 'go on';
  }
  addContext(turn, end.context);
  return 'answered';
}

function continueWith({ state }: TurnContext, text: string): 'go on' {
  state.messages.push(completeMessage({ role: 'user', content: text }));
  return 'go on';
}

/** Appends the context of the stop hooks to the answer. */
function addContext({ state }: TurnContext, context: readonly string[]): void {
  const { answer } = state;
  if (context.length === 0 || answer === undefined) return;
  const content = [answer.message.content, ...context].join('\n');
  const hasParts = textsAt(answer.message, 'parts') !== undefined;
  const message = { ...(hasParts ? withTextAt(answer.message, 'parts', content) : answer.message), content };
  state.answer = { ...answer, message };
  state.messages.splice(-1, 1, message);
}

/** No rounds are left: a hook may force exactly one more. */
async function endAtRoundLimit(turn: TurnContext, path: string): Promise<StepOutcome | undefined> {
  const { chat, state } = turn;
  if (state.rounds > 0) {
    // The last answer may have been final until a hook forced the turn to continue.
    const end = isAnswered(turn) ? undefined : await endTurn(turn, path, 'max_iterations');
    if (end?.kind === 'stopped') return end.outcome;
    if (end?.kind === 'go on') continueWith(turn, end.followUp);
    if (end?.kind !== 'end') {
      const stopped = await runLastRound(turn, `${path}/round-more`);
      if (stopped !== undefined || isAnswered(turn)) return stopped;
    }
  }
  const { fuelSetBy } = state;
  const by = fuelSetBy === undefined ? '' : `: hook "${fuelSetBy}" left it no more`;
  const message = `chat "${chat.step.id}" still asked for tools after ${state.rounds} rounds${by}`;
  const hint = by === '' ? undefined : 'The hook’s `fuel` decides, not max_rounds.';
  const error = new RuntimeError('ROUNDS_EXHAUSTED', message, { hint });
  return failedStep('failed', toFault(error), viewOf(state, ''));
}

/** The one model call beyond the limit. Its answer passes the stop hooks, whose `follow_up` is ignored. */
async function runLastRound(turn: TurnContext, path: string): Promise<StepOutcome | undefined> {
  turn.state.isLastRound = true;
  const failed = await requestAnswer(turn, path);
  if (failed !== undefined || !isAnswered(turn)) return failed;
  const end = await endTurn(turn, path, 'final_response');
  if (end.kind === 'stopped') return end.outcome;
  if (end.kind === 'end') addContext(turn, end.context);
  else warnOfIgnoredFollowUp(turn, end.by);
  return undefined;
}

function warnOfIgnoredFollowUp({ run }: TurnContext, hooks: readonly (string | null)[]): void {
  const message = 'it would make the turn go on, and no round is left: the answer stands';
  for (const name of hooks) run.emit({ type: 'note', name: name ?? 'a hook', level: 'warn', message });
}

function isAnswered({ state: { answer } }: TurnContext): boolean {
  return answer !== undefined && toolCallsOf(answer.message).length === 0;
}
