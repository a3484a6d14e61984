import type { FinishedCall } from '../../contract/turn.ts';
import { type FailedOpen, failuresIn } from '../../dialects/metadata.ts';
import { type Fault, RuntimeError, toFault } from '../../errors.ts';
import type { CallResult } from '../../hooks/call-result.ts';
import { completeMessage, textsAt, withTextAt } from '../../hooks/message.ts';
import { isObject, Json } from '../../json/json.ts';
import { unknownTool } from '../../tool-call/before.ts';
import { type PlannedCall, runCalls } from '../run/calls.ts';
import { callIdOf } from '../run/tool.ts';
import { broken, type StepOutcome } from '../state/step-outcome.ts';
import { chargeRound } from './loop-control.ts';
import { journalAnswer, type ModelAnswer } from './model.ts';
import { isReleasedLate } from './release.ts';
import { reprompt } from './reprompt.ts';
import { takeBeside } from './session-context.ts';
import { spentInVain } from './spent.ts';
import { takeResults } from './take-results.ts';
import { type AskedCall, idOf, toolCallsOf } from './tool-calls.ts';
import { endBatch, endTurn, type HookedTurn, sceneOf, stopTurn, tellTurn } from './turn-hooks.ts';
import { viewOf } from './turn-state.ts';

/** Goes on until the model answers without tool calls; gives the outcome that ended the turn otherwise. */
export async function converse(turn: HookedTurn, attempt: number): Promise<StepOutcome | undefined> {
  const { place, talk } = turn;
  talk.isLastRound = false;
  // Nothing is checked before the first call: what has no rounds left may still answer.
  for (let round = 1; round === 1 || talk.roundsLeft > 0; round += 1) {
    const path = `${place.name}/attempt-${attempt}/round-${round}`;
    const end = await runRound(turn, path);
    if (end === 'go on') continue;
    return end === 'answered' ? undefined : end;
  }
  return await exhaust(turn, `${place.name}/attempt-${attempt}`);
}

type RoundEnd = 'go on' | 'answered' | StepOutcome;

/** One model call and the tool calls that it asks for. */
async function runRound(turn: HookedTurn, path: string): Promise<RoundEnd> {
  const { talk } = turn;
  const failed = await ask(turn, path);
  if (failed !== undefined) return failed;
  const asked = talk.answer === undefined ? [] : toolCallsOf(talk.answer.message);
  if (asked.length === 0) {
    chargeRound(talk);
    return await settle(turn, path);
  }
  const results = await callTools(turn, path, asked);
  const calls = takeResults(talk, asked, results);
  const ended = results.find(({ outcome }) => outcome.status === 'denied' && outcome.abort !== undefined);
  if (ended?.outcome.status === 'denied') {
    const { hook, reason, abort } = ended.outcome;
    const isSession = abort === 'session';
    return stopTurn(turn, { hook, reason, isSession, metadata: ended.metadata.value });
  }
  const stopped = await endBatch(turn, path, calls);
  if (stopped !== undefined) return stopped;
  // Hooks of the batch are told the level before.
  chargeRound(talk);
  if (isHandled(turn, results)) return 'answered';
  return isHandedBack(turn, calls, results) ? 'answered' : 'go on';
}

async function ask(turn: HookedTurn, path: string): Promise<StepOutcome | undefined> {
  const { run, place, talk } = turn;
  const { step, name, scope } = place;
  const isLate = isReleasedLate(turn);
  const beside = await takeBeside(run, path);
  if (beside.length > 0) talk.messages.push(completeMessage({ role: 'user', content: beside.join('\n') }));
  let isNew = false;
  const answer = await journalAnswer(run, path, {
    step,
    talk,
    scene: sceneOf(turn),
    signal: scope.signal,
    onCall: (asked) => void tellTurn(turn, { phase: 'model_asked' }, asked),
    onRetry: ({ attempt: retry, maxRetries: max_retries, error, backoffMs: backoff_ms }) =>
      void tellTurn(turn, { phase: 'model_retried', retry, max_retries, error: toFault(error), backoff_ms }),
    onAnswer: () => {
      isNew = true;
    },
    onText: (text) => {
      if (!isLate) run.emit({ type: 'text', run: run.journal.runId, step: name, text });
    },
  });
  if ('error' in answer) return await failRound(turn, answer.error);
  take(turn, answer);
  if (isNew) await tellTurn(turn, { phase: 'model_answered', message: answer.message });
  return undefined;
}

async function failRound(turn: HookedTurn, error: Fault): Promise<StepOutcome> {
  const { details } = error;
  turn.talk.spent.push(...spentInVain(error));
  turn.talk.failedOpen.push(...failuresIn(Json.from(details?.['metadata'] ?? {})));
  if (error.code !== 'DENIED') await tellTurn(turn, { phase: 'error', stage: 'llm', error });
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
  return broken(error.code === 'DENIED' ? 'denied' : 'failed', error, viewOf(turn.talk, ''));
}

function take({ talk }: HookedTurn, answer: ModelAnswer): void {
  talk.rounds += 1;
  talk.answer = answer;
  talk.messages.push(answer.message);
  talk.failedOpen.push(...failuresAround(answer));
  const { usage, cost_usd } = answer;
  talk.spent.push({ ...usage, ...(cost_usd !== undefined && { cost_usd }) });
}

/** What failed open around a model call, before it and behind it. */
function failuresAround({ metadata: { value } }: ModelAnswer): FailedOpen[] {
  return ['before_call', 'after_call'].flatMap((phase) => {
    const report = isObject(value) ? value[phase] : undefined;
    return failuresIn(Json.from(isObject(report) ? report['metadata'] : {}));
  });
}

/** Makes the calls of one answer; those that must run alone come after the others. */
async function callTools(turn: HookedTurn, path: string, asked: readonly AskedCall[]): Promise<CallResult[]> {
  const { run, place } = turn;
  const { scope, step } = place;
  const calls = asked.map((call, position) => planCall(turn, `${path}/call-${position + 1}`, call));
  const isAlone = ({ tool }: PlannedCall) => tool.isExclusive === true || tool.flow !== undefined;
  const together = calls.filter((call) => !isAlone(call));
  const scene = sceneOf(turn);
  const held = new Map<string, () => Promise<void>>();
  const holdBack = (name: string, tell: () => Promise<void>) => held.set(name, tell);
  const making = { scope, scene, holdBack };
  try {
    const first = await runCalls(run, together, { ...making, concurrency: step.toolConcurrency });
    const results = new Map(together.map((call, index) => [call.name, first[index]]));
    for (const call of calls.filter(isAlone)) {
      const [result] = await runCalls(run, [call], { ...making, concurrency: 1 });
      results.set(call.name, result);
    }
    return calls.flatMap(({ name }) => results.get(name) ?? []);
  } finally {
    // Also of those that were made before the run was set down: they are not made again.
    for (const { name } of calls) await held.get(name)?.();
  }
}

/** Only tools that the model was offered exist for it; of any other name only hooks can make something. */
function planCall(
  { run, place, talk }: HookedTurn,
  name: string,
  { id, name: tool, args }: AskedCall,
): PlannedCall {
  const isOffered = place.step.tools.includes(tool) && talk.offered.some((each) => each.name === tool);
  const known = isOffered ? run.tools.get(tool) : undefined;
  const callId = callIdOf(run, name);
  return { name, tool: known ?? unknownTool(tool, run), args, callId, toolUseId: idOf({ id }, callId) };
}

/** Hooks have answered every call of the round, and told the caller: the model is not asked again. */
function isHandled({ talk }: HookedTurn, results: readonly CallResult[]): boolean {
  const texts = results.flatMap(({ handled }) => (handled === undefined ? [] : [handled]));
  if (texts.length === 0 || texts.length < results.length || talk.answer === undefined) return false;
  const message = completeMessage({ role: 'assistant', content: texts.join('\n') });
  talk.answer = { ...talk.answer, message, finish_reason: 'stop', metadata: new Json('{}') };
  talk.messages.push(message);
  return true;
}

/** A tool of this kind gives the word back to the caller: its text is the answer. */
function isHandedBack(
  { run, talk }: HookedTurn,
  calls: readonly FinishedCall[],
  results: readonly CallResult[],
): boolean {
  const end = calls.find(
    ({ name }, index) =>
      run.tools.get(name)?.flow?.endsTurn === true && results[index]?.outcome.status === 'ok',
  );
  if (end === undefined || talk.answer === undefined) return false;
  talk.isHandedBack = true;
  const message = completeMessage({ role: 'assistant', content: end.content });
  talk.answer = { ...talk.answer, message, finish_reason: 'stop' };
  talk.messages.push(message);
  return true;
}

/** An answer without tool calls ends the turn, unless a hook wants it to go on. */
async function settle(turn: HookedTurn, path: string): Promise<RoundEnd> {
  const { talk } = turn;
  const end = await endTurn(turn, path, 'final_response');
  if (end.kind === 'stopped') return end.outcome;
  if (end.kind === 'go on') return goOn(turn, end.followUp);
  if (talk.fallback === 'call_agent' && talk.roundsLeft > 0) {
    return (await reprompt(turn, path)) ?? 'go on';
  }
  addContext(turn, end.context);
  return 'answered';
}

function goOn({ talk }: HookedTurn, text: string): 'go on' {
  talk.messages.push(completeMessage({ role: 'user', content: text }));
  return 'go on';
}

/** What hooks of the end say stands beside the answer. */
function addContext({ talk }: HookedTurn, context: readonly string[]): void {
  const { answer } = talk;
  if (context.length === 0 || answer === undefined) return;
  const content = [answer.message.content, ...context].join('\n');
  const hasParts = textsAt(answer.message, 'parts') !== undefined;
  const message = { ...(hasParts ? withTextAt(answer.message, 'parts', content) : answer.message), content };
  talk.answer = { ...answer, message };
  talk.messages.splice(-1, 1, message);
}

/** No rounds are left: a hook may force exactly one more. */
async function exhaust(turn: HookedTurn, path: string): Promise<StepOutcome | undefined> {
  const { place, talk } = turn;
  if (talk.rounds > 0) {
    // The last answer itself may have been what a hook forced the turn to go on from.
    const end = isAnswered(turn) ? undefined : await endTurn(turn, path, 'max_iterations');
    if (end?.kind === 'stopped') return end.outcome;
    if (end?.kind === 'go on') goOn(turn, end.followUp);
    if (end?.kind !== 'end') {
      const stopped = await runLastRound(turn, `${path}/round-more`);
      if (stopped !== undefined || isAnswered(turn)) return stopped;
    }
  }
  const { fuelSetBy } = talk;
  const by = fuelSetBy === undefined ? '' : `: hook "${fuelSetBy}" left it no more`;
  const message = `chat "${place.step.id}" still asked for tools after ${talk.rounds} rounds${by}`;
  const hint = by === '' ? undefined : 'The hook’s `fuel` decides, not max_rounds.';
  const error = new RuntimeError('ROUNDS_EXHAUSTED', message, { hint });
  return broken('failed', toFault(error), viewOf(talk, ''));
}

/** One model call, whose answer passes the hooks of a turn's end like any other; what they force has no effect now. */
async function runLastRound(turn: HookedTurn, path: string): Promise<StepOutcome | undefined> {
  turn.talk.isLastRound = true;
  const failed = await ask(turn, path);
  if (failed !== undefined || !isAnswered(turn)) return failed;
  const end = await endTurn(turn, path, 'final_response');
  if (end.kind === 'stopped') return end.outcome;
  if (end.kind === 'end') addContext(turn, end.context);
  else warnOfDropped(turn, end.by);
  return undefined;
}

function warnOfDropped({ run }: HookedTurn, hooks: readonly (string | null)[]): void {
  const message = 'it would make the turn go on, and no round is left: the answer stands';
  for (const name of hooks) run.emit({ type: 'note', name: name ?? 'a hook', level: 'warn', message });
}

function isAnswered({ talk: { answer } }: HookedTurn): boolean {
  return answer !== undefined && toolCallsOf(answer.message).length === 0;
}
