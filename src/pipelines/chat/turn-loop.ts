import { RuntimeError, toFault } from '../../base/errors.ts';
import { completeMessage, textsAt, withTextAt } from '../../calls/hooks/message.ts';
import { toolCallsOf } from '../state/requested-calls.ts';
import { failedStep, type StepOutcome } from '../state/step-outcome.ts';
import { endTurn, fireBatch, stopTurn, type TurnContext } from '../turn-hooks.ts';
import { requestAnswer } from './answer-request.ts';
import { chargeRound, roundsLeft } from './loop-control.ts';
import { reprompt } from './reprompt.ts';
import { appendResults } from './tool-results.ts';
import { callTools, isHandedBack, isHandled } from './tool-round.ts';
import { viewOf } from './turn-state.ts';

/**
 * Runs rounds until the model answers without tool calls (undefined), or returns the outcome that ended the
 * turn.
 */
export async function runTurnLoop(turn: TurnContext, attempt: number): Promise<StepOutcome | undefined> {
  const { chat, state } = turn;
  state.isLastRound = false;
  // The first model call is always made, even when no rounds are left.
  for (let round = 1; round === 1 || roundsLeft(state) > 0; round += 1) {
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

/** Handles an answer without tool calls: it ends the turn, unless a stop hook or a reprompt continues it. */
async function finishTurn(turn: TurnContext, path: string): Promise<RoundEnd> {
  const { state } = turn;
  const end = await endTurn(turn, path, 'final_response');
  if (end.kind === 'stopped') return end.outcome;
  if (end.kind === 'go on') return continueWith(turn, end.followUp);
  if (state.fallback === 'call_agent' && roundsLeft(state) > 0) {
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
  const { callsLeft, fuel } = state;
  const limiter = fuel !== undefined && fuel.level < callsLeft ? fuel.setBy : undefined;
  const by = limiter === undefined ? '' : `: hook "${limiter}" left it no more`;
  const message = `chat "${chat.step.id}" still asked for tools after ${state.rounds} rounds${by}`;
  const hint = by === '' ? undefined : 'The hook’s `fuel` decides, within max_rounds.';
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
