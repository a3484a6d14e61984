import { RuntimeError, toFault } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { completeMessage, textsAt, withTextAt } from '../../calls/hooks/replace.ts';
import { unknownTool } from '../../calls/tool-call/before-execution.ts';
import type { CallResult } from '../../calls/tool-call/callable-tool.ts';
import type { PlannedCall } from '../../calls/tool-call/pending-call.ts';
import type { FinishedCall } from '../../contract/turn.ts';
import { runCalls } from '../run/calls.ts';
import { callIdOf } from '../run/step-kinds.ts';
import { journalStep } from '../state/record.ts';
import { idOf, type RequestedCall, toolCallsOf } from '../state/requested-calls.ts';
import { failedStep, type StepOutcome } from '../state/step-outcome.ts';
import { turnRecord } from '../state/turn-record.ts';
import {
  endTurn,
  fireBatch,
  hookContextOf,
  notifyAnswered,
  stopTurn,
  type TurnContext,
  toTurn,
} from '../turn-hooks.ts';
import { requestAnswer } from './answer-request.ts';
import { applyTurnRecord, dropContext, firePhases } from './turn-start.ts';
import { appendResults, chargeRound, roundsLeft, viewOf } from './turn-state.ts';

/** Returns undefined if the model answered without tool calls, else the outcome that ended the turn. */
export async function runTurnLoop(turn: TurnContext, attempt: number): Promise<StepOutcome | undefined> {
  const { chat, state } = turn;
  state.isLastRound = false;
  // The first model call is always made, even without rounds left.
  for (let round = 1; round === 1 || roundsLeft(state) > 0; round += 1) {
    const path = `${chat.name}/attempt-${attempt}/round-${round}`;
    const end = await runRound(turn, path);
    if (end === 'go on') continue;
    return end === 'answered' ? undefined : end;
  }
  return await endAtRoundLimit(turn, `${chat.name}/attempt-${attempt}`);
}

type RoundEnd = 'go on' | 'answered' | StepOutcome;

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

function addContext({ state }: TurnContext, context: readonly string[]): void {
  const { answer } = state;
  if (context.length === 0 || answer === undefined) return;
  const content = [answer.message.content, ...context].join('\n');
  const hasParts = textsAt(answer.message, 'parts') !== undefined;
  const message = { ...(hasParts ? withTextAt(answer.message, 'parts', content) : answer.message), content };
  state.answer = { ...answer, message };
  state.messages.splice(-1, 1, message);
}

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
  const by = limiter === undefined ? '' : `: hook "${limiter}" set this limit`;
  const message = `chat "${chat.step.id}" still requested tool calls after ${state.rounds} rounds${by}`;
  const hint = by === '' ? undefined : 'The hook’s `fuel` sets the limit, up to max_rounds.';
  const error = new RuntimeError('ROUNDS_EXHAUSTED', message, { hint });
  return failedStep('failed', toFault(error), viewOf(state, ''));
}

/** Runs one model call beyond the limit. Its answer passes the stop hooks, whose `follow_up` is ignored. */
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
  const message = 'it would continue the turn, but no round is left: the answer is final';
  for (const name of hooks) run.emit({ type: 'note', name: name ?? 'a hook', level: 'warn', message });
}

function isAnswered({ state: { answer } }: TurnContext): boolean {
  return answer !== undefined && toolCallsOf(answer.message).length === 0;
}

/** Hook changes hold for one pass, so the original prompt, tools and options return. */
async function reprompt(turn: TurnContext, path: string): Promise<StepOutcome | undefined> {
  const { run, chat, state } = turn;
  const { base } = state;
  // Source: docs/plugins.md, whose loop this is; a chat here is configured with `call_user`.
  const text = `[reengaged (fuel: ${roundsLeft(state)}/${chat.step.maxRounds}) via call_user. call_user(<message>) to end turn.]`;
  state.fallback = 'call_user';
  const before = toTurn(turn);
  state.model = undefined;
  const nextTurn = {
    ...toTurn(turn),
    prompt: text,
    system_prompt: base.system,
    tools: base.offered,
    options: base.options,
    messages: [...before.messages, completeMessage({ role: 'user', content: text })],
  };
  const promptLinks = run.links.filter(({ group }) => group.dialect.firesOnLoopPrompts === true);
  const record = await journalStep(run.journal, { name: `${path}/reprompt`, kind: turnRecord }, async () => {
    await notifyAnswered(turn);
    const phases = ['prompt', 'tool_list', 'request', 'loop'] as const;
    return await firePhases(turn, { turn: nextTurn, phases, promptLinks });
  });
  dropContext(run.session, record.taken ?? []);
  const stopped = applyTurnRecord(turn, record);
  if (stopped !== undefined) return stopped;
  state.modelPrompt = { prompt: record.prompt, original: text };
  // The model still sees withheld answers, unless a hook has replaced the conversation.
  if (record.isRewritten === true) state.messages.splice(0, state.messages.length, ...record.messages);
  else state.messages.push(completeMessage({ role: 'user', content: record.prompt }));
  return undefined;
}

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
  const roundContext = { scope, hookContext, deferNotification };
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
    // Includes calls made before the run was suspended, which are not made again.
    for (const { name } of calls) await deferred.get(name)?.();
  }
}

function planCall(
  { run, chat, state }: TurnContext,
  name: string,
  { id, name: tool, args }: RequestedCall,
): PlannedCall {
  const isOffered = chat.step.tools.includes(tool) && state.offered.some((each) => each.name === tool);
  const known = isOffered ? run.tools.get(tool) : undefined;
  const callId = callIdOf(run, name);
  const edition = run.journal.editionOf?.(name);
  return {
    name,
    tool: known ?? unknownTool(tool, run),
    args,
    callId,
    edition,
    toolUseId: idOf({ id }, callId),
  };
}

function isHandled({ state }: TurnContext, results: readonly CallResult[]): boolean {
  const texts = results.flatMap(({ handled }) => (handled === undefined ? [] : [handled]));
  if (texts.length === 0 || texts.length < results.length || state.answer === undefined) return false;
  const message = completeMessage({ role: 'assistant', content: texts.join('\n') });
  state.answer = { ...state.answer, message, finish_reason: 'stop', metadata: new Json('{}') };
  state.messages.push(message);
  return true;
}

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
