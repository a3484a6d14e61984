import { RuntimeError, toFault } from '../../errors.ts';
import { completeMessage } from '../../hooks/message.ts';
import type { ChatStep } from '../file/model.ts';
import type { RunContext } from '../state/run-context.ts';
import { sessionEvent } from '../state/session-event.ts';
import { broken, done, type StepOutcome } from '../state/step-outcome.ts';
import { type CheckedAnswer, checkAnswer, feedbackOf } from './guardrails.ts';
import { hasNoFuel } from './loop-control.ts';
import { isReleasedLate } from './release.ts';
import { type HookedTurn, stopTurn, tellAnswered, tellTurn } from './turn-hooks.ts';
import { converse } from './turn-loop.ts';
import { beginTurn } from './turn-moments.ts';
import { type ChatPlace, openTalk, type Talk, viewOf, visible } from './turn-state.ts';

/**
 * One turn of a conversation: model calls and the tool calls that they ask for, until an answer comes without
 * any; then its guardrails, and the whole again while they fail and retries are left. Throws what sets the
 * run down, and EXPRESSION_FAILED.
 */
export async function runChat(run: RunContext, place: ChatPlace): Promise<StepOutcome> {
  const talk = openTalk(place, listTools(run, place.step));
  const turn = { run, number: run.session.turns + 1, place, talk };
  const { ended } = run.session;
  if (ended !== undefined) return stopTurn(turn, ended);
  const outcome = (await beginTurn(turn)) ?? (await runAttempts(turn));
  const status = outcome.status === 'ok' ? 'completed' : outcome.status === 'denied' ? 'denied' : 'failed';
  const response = status === 'completed' ? (talk.answer?.message.content ?? '') : '';
  const duration_ms = Math.round(performance.now() - talk.startedAt);
  const { isHandedBack, originalPrompt: original_prompt } = talk;
  if (status === 'completed' && !isHandedBack) await tellAnswered(turn);
  await tellTurn(turn, { phase: 'turn_end', response, status, isHandedBack, original_prompt, duration_ms });
  return outcome;
}

async function runAttempts(turn: HookedTurn): Promise<StepOutcome> {
  const { run, place, talk } = turn;
  const { step, scope } = place;
  for (let attempt = 1; ; attempt += 1) {
    // What a hook has left the turn with, an answer that did not pass does not fill up.
    if (attempt > 1 && talk.fuelSetBy === undefined) talk.roundsLeft = step.maxRounds;
    const end = await converse(turn, attempt);
    if (end !== undefined) return end;
    const checked = await checkAnswer(run, place, { talk, attempt });
    talk.guardrails = checked.results;
    if (checked.failing === undefined) return await complete(turn);
    if (attempt > step.retries || hasNoFuel(talk)) return withhold(talk, checked);
    const feedback = completeMessage({ role: 'user', content: feedbackOf(checked) });
    if (talk.answer !== undefined) talk.withheld.add(talk.answer.message).add(feedback);
    talk.messages.push(feedback);
    if (scope.signal.aborted) throw new RuntimeError('ABORTED', 'the chat was given up');
  }
}

function listTools(run: RunContext, { tools }: ChatStep): Talk['offered'] {
  return tools.flatMap((name) => {
    const tool = run.tools.get(name);
    if (tool === undefined) return [];
    const { description, inputSchema, category } = tool;
    return [{ name, description, input_schema: inputSchema, ...(category && { category }) }];
  });
}

async function complete(turn: HookedTurn): Promise<StepOutcome> {
  const { run, place, talk } = turn;
  run.session.turns += 1;
  const text = talk.answer?.message.content ?? '';
  if (isReleasedLate(turn)) run.emit({ type: 'text', run: run.journal.runId, step: place.name, text });
  await run.tell('session_update', { ...sessionEvent(run), messages: visible(talk) });
  return done(viewOf(talk, text));
}

/** The answer failed an enforcing guardrail to the last: nobody gets to see it. */
function withhold(talk: Talk, { failing }: CheckedAnswer): StepOutcome {
  const text = 'This response was withheld by a guardrail.';
  if (talk.answer !== undefined) talk.withheld.add(talk.answer.message);
  return broken('denied', failing ?? toFault(new Error('no guardrail failed')), viewOf(talk, text));
}
