import { Json } from '../../base/json/json.ts';
import type { CallResult } from '../../calls/hooks/call-result.ts';
import { completeMessage } from '../../calls/hooks/message.ts';
import { unknownTool } from '../../calls/tool-call/before-execution.ts';
import type { PlannedCall } from '../../calls/tool-call/pending-call.ts';
import type { FinishedCall } from '../../contract/turn.ts';
import { runCalls } from '../run/calls.ts';
import { callIdOf } from '../run/tool-step.ts';
import { idOf, type RequestedCall } from '../state/requested-calls.ts';
import { hookContextOf, type TurnContext } from '../turn-hooks.ts';

/** Makes the calls of one answer; those that must run alone come after the others. */
export async function callTools(
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

/** Whether hooks answered every call of the round for the caller; their texts are then the final answer. */
export function isHandled({ state }: TurnContext, results: readonly CallResult[]): boolean {
  const texts = results.flatMap(({ handled }) => (handled === undefined ? [] : [handled]));
  if (texts.length === 0 || texts.length < results.length || state.answer === undefined) return false;
  const message = completeMessage({ role: 'assistant', content: texts.join('\n') });
  state.answer = { ...state.answer, message, finish_reason: 'stop', metadata: new Json('{}') };
  state.messages.push(message);
  return true;
}

/** Whether a flow control tool ended the turn; its text is then the final answer. */
export function isHandedBack(
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
