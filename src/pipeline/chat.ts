import type { ChatMessage } from '../contract/provider.ts';
import { type Fault, RuntimeError, toFault } from '../errors.ts';
import { Json } from '../json.ts';
import type { CallResult } from './call-result.ts';
import { type CheckedAnswer, checkAnswer, feedbackOf } from './chat-guardrails.ts';
import { journalAnswer, type ModelAnswer } from './chat-model.ts';
import { completeMessage } from './message.ts';
import type { ChatStep } from './model.ts';
import { runCalls } from './run-calls.ts';
import type { OfferedTool, RunContext } from './run-context.ts';
import { callIdOf } from './run-tool.ts';
import { sessionEvent } from './session-event.ts';
import { broken, brokenBy, done, type StepOutcome } from './step-outcome.ts';
import { type ChatPlace, type MadeCall, openTalk, type Talk, viewOf, visible } from './talk.ts';
import { toolCallsOf } from './tool-calls.ts';

/**
 * One turn of a conversation: model calls and the tool calls that they ask for, until an answer comes without
 * any; then its guardrails, and the whole again while they fail and retries are left. Throws what sets the
 * run down, and EXPRESSION_FAILED.
 */
export async function runChat(run: RunContext, place: ChatPlace): Promise<StepOutcome> {
  const { step, scope } = place;
  const talk = openTalk(place);
  for (let attempt = 1; ; attempt += 1) {
    const end = await converse(run, place, { talk, attempt });
    if (end !== undefined) return withTalk(end, talk);
    const checked = await checkAnswer(run, place, { talk, attempt });
    talk.guardrails = checked.results;
    if (checked.failing === undefined) return complete(run, place, talk);
    if (attempt > step.retries) return withhold(talk, checked);
    const feedback = completeMessage({ role: 'user', content: feedbackOf(checked) });
    if (talk.answer !== undefined) talk.withheld.add(talk.answer.message).add(feedback);
    talk.messages.push(feedback);
    if (scope.signal.aborted) throw new RuntimeError('ABORTED', 'the chat was given up');
  }
}

interface Attempt {
  readonly talk: Talk;
  readonly attempt: number;
}

/** Goes on until the model answers without tool calls; gives the outcome that ended the turn otherwise. */
async function converse(
  run: RunContext,
  place: ChatPlace,
  { talk, attempt }: Attempt,
): Promise<StepOutcome | undefined> {
  const { step, name, scope } = place;
  const offered = offeredTools(run, step);
  for (let round = 1; round <= step.maxRounds; round += 1) {
    const path = `${name}/attempt-${attempt}/round-${round}`;
    const answer = await journalAnswer(run, path, {
      step,
      offered,
      talk,
      signal: scope.signal,
      onText: (text) => {
        if (!isReleasedLate(step)) tellText(run, name, text);
      },
    });
    if ('error' in answer) return brokenBy(faultError(answer.error));
    take(talk, answer);
    const asked = toolCallsOf(answer.message);
    if (asked.length === 0) return undefined;
    const index = talk.messages.length - 1;
    const calls = asked.map(({ name: tool, args }, position) => {
      const callName = `${path}/call-${position + 1}`;
      return {
        name: callName,
        tool: offered.get(tool),
        toolName: tool,
        args,
        callId: callIdOf(run, callName),
      };
    });
    const known = calls.flatMap((call) => (call.tool === undefined ? [] : [{ ...call, tool: call.tool }]));
    const results = await runCalls(run, known, { scope, concurrency: step.toolConcurrency });
    const byName = new Map(known.map((call, position) => [call.name, results[position]]));
    for (const [position, { id, name: tool, args }] of asked.entries()) {
      const result = byName.get(`${path}/call-${position + 1}`);
      const made = toMadeCall({ tool, args, index }, result);
      talk.toolCalls.push(made);
      talk.messages.push(toToolMessage({ id, tool }, made));
    }
  }
  const message = `chat "${step.id}" still asked for tools after ${step.maxRounds} rounds`;
  return broken('failed', toFault(new RuntimeError('ROUNDS_EXHAUSTED', message)));
}

/** A streamed answer that a guardrail may still withhold is told of when all guardrails have let it pass. */
function isReleasedLate({ stream, guardrails }: ChatStep): boolean {
  return stream !== undefined && guardrails.some(({ action }) => action === 'enforce');
}

function tellText({ emit, journal }: RunContext, step: string, text: string): void {
  emit({ type: 'text', run: journal.runId, step, text });
}

function offeredTools(run: RunContext, { tools }: ChatStep): ReadonlyMap<string, OfferedTool> {
  return new Map(
    tools.flatMap((name) => {
      const tool = run.tools.get(name);
      return tool === undefined ? [] : [[name, tool] as const];
    }),
  );
}

function take(talk: Talk, answer: ModelAnswer): void {
  talk.rounds += 1;
  talk.answer = answer;
  talk.messages.push(answer.message);
  talk.usage.input_tokens += answer.usage.input_tokens;
  talk.usage.output_tokens += answer.usage.output_tokens;
  if (answer.cost_usd !== undefined) talk.usage.cost_usd = (talk.usage.cost_usd ?? 0) + answer.cost_usd;
}

function toMadeCall(
  { tool, args, index }: { readonly tool: string; readonly args: string; readonly index: number },
  result: CallResult | undefined,
): MadeCall {
  if (result === undefined) {
    const error = `there is no tool "${tool}"`;
    return { name: tool, args, status: 'failed', content: `Tool "${tool}" failed: ${error}`, error, index };
  }
  const { outcome, content } = result;
  const status = outcome.status === 'pending' ? 'failed' : outcome.status;
  const error = outcome.status === 'failed' ? outcome.error.message : status === 'denied' ? content : '';
  return { name: tool, args: exactArgs(args), status, content, error, index };
}

/** Arguments that are JSON keep their bytes; what a model wrote wrongly stays the text that it was. */
function exactArgs(args: string): Json | string {
  try {
    const json = new Json(args);
    void json.value;
    return json;
  } catch {
    return args;
  }
}

function toToolMessage(
  { id, tool }: { readonly id: string; readonly tool: string },
  made: MadeCall,
): ChatMessage {
  // The AI SDK has one text for a result that went wrong, so both members say it.
  const error = made.status === 'ok' ? {} : { error: made.content };
  return { role: 'tool', content: made.content, tool_result: { id, name: tool, ...error } };
}

function complete(run: RunContext, { step, name }: ChatPlace, talk: Talk): StepOutcome {
  run.session.turns += 1;
  const text = talk.answer?.message.content ?? '';
  if (isReleasedLate(step)) tellText(run, name, text);
  run.tell('session_update', { ...sessionEvent(run), messages: visible(talk) });
  return done(viewOf(talk, text));
}

/** The answer failed an enforcing guardrail to the last: nobody gets to see it. */
function withhold(talk: Talk, { failing }: CheckedAnswer): StepOutcome {
  const text = 'This response was withheld by a guardrail.';
  if (talk.answer !== undefined) talk.withheld.add(talk.answer.message);
  return broken('denied', failing ?? toFault(new Error('no guardrail failed')), viewOf(talk, text));
}

/** A turn that ended early shows what it had come to, but for an answer that nobody approved. */
function withTalk(outcome: StepOutcome, talk: Talk): StepOutcome {
  if (outcome.error === undefined) return outcome;
  return broken(outcome.status === 'denied' ? 'denied' : 'failed', outcome.error, viewOf(talk, ''));
}

function faultError({ code, message, hint, details }: Fault): RuntimeError {
  return new RuntimeError(code, message, { hint, details });
}
