import type { RuntimeConfig } from '../../config/config.ts';
import type { EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { isObject, parseLossless } from '../../json/json.ts';
import { sumSpent } from '../../pipeline/chat/spent.ts';
import { toolCallsOf } from '../../pipeline/chat/tool-calls.ts';
import type { viewOf } from '../../pipeline/chat/turn-state.ts';
import type { Chat, Pipeline, Step } from '../../pipeline/file/model.ts';
import { readStepEntry } from '../../pipeline/state/step-outcome.ts';
import type { StepRecord } from '../../store/store.ts';
import type { Made } from './source.ts';

/** What the chats of a run said, in the order in which they ended, and what they used up. */
export function toTranscript(
  records: readonly StepRecord[],
  pipeline: Pipeline,
  { providers }: Pick<RuntimeConfig, 'providers'>,
): Pick<Made, 'messages' | 'tool_calls' | 'metadata'> {
  const known = new Map(chatsIn(pipeline.steps).map(({ id, chat }) => [id, chat]));
  const talks = records.flatMap((record) => readTalk(record, known));
  if (talks.length === 0) return { messages: [], tool_calls: [], metadata: {} };
  const messages: ChatMessage[] = [];
  const calls: EvalToolCall[] = [];
  for (const { view } of talks) {
    const places = placesOfCalls(view.messages, messages.length);
    calls.push(...view.tool_calls.map((call, index) => toEvalCall(call, places[index] ?? 0)));
    messages.push(...view.messages);
  }
  const ids = unique(talks.map(({ provider }) => provider));
  const models = unique(providers.filter(({ id }) => ids.includes(id)).map(({ model }) => model));
  const metadata = { ...usageOf(talks), ...only('provider', ids), ...only('model', models) };
  return { messages, tool_calls: calls, metadata };
}

type View = Pick<ReturnType<typeof viewOf>, 'usage' | 'tool_calls'> & {
  readonly messages: readonly ChatMessage[];
};

interface Talk {
  readonly provider: string;
  readonly view: View;
}

function chatsIn(steps: readonly Step[]): { readonly id: string; readonly chat: Chat }[] {
  return steps.flatMap((step) => {
    const handlers = step.onError.kind === 'handle' ? step.onError.steps : [];
    const own = step.kind === 'chat' ? [{ id: step.id, chat: step }] : [];
    const inner = 'steps' in step ? step.steps : [];
    const otherwise = 'otherwise' in step ? step.otherwise : [];
    return [...own, ...chatsIn([...inner, ...otherwise, ...handlers])];
  });
}

/** None of a step that is no chat, or that ended before its first word. */
function readTalk({ step, outcome }: StepRecord, known: ReadonlyMap<string, Chat>): Talk[] {
  const entry = outcome === null ? undefined : readStepEntry(outcome);
  if (entry?.kind !== 'chat') return [];
  const view = parseLossless(entry.view.text);
  const id = step.replace(/^.*\//, '').replace(/\[\d+\]$/, '');
  return isTalk(view) ? [{ provider: known.get(id)?.provider ?? '', view }] : [];
}

/** A chat's view has all of its members, or none when it came to nothing. */
function isTalk(view: unknown): view is View {
  return isObject(view) && Array.isArray(view['messages']) && isObject(view['usage']);
}

/** For each tool call, in their order, the position of the message that asked for it. */
function placesOfCalls(messages: readonly ChatMessage[], offset: number): number[] {
  return messages.flatMap((message, index) =>
    message.role === 'assistant' ? toolCallsOf(message).map(() => offset + index) : [],
  );
}

function toEvalCall({ name, args, result, error }: View['tool_calls'][number], index: number): EvalToolCall {
  return { name, args, result, error, index };
}

function usageOf(talks: readonly Talk[]): Record<string, number> {
  const {
    input_tokens: input,
    output_tokens: output,
    cost_usd,
  } = sumSpent(talks.map(({ view }) => view.usage));
  return {
    ...(input !== null && { input_tokens: input }),
    ...(output !== null && { output_tokens: output }),
    ...(input !== null && output !== null && { total_tokens: input + output }),
    ...(cost_usd !== undefined && { cost_usd }),
  };
}

/** A word that is the same for all. */
function only(key: string, words: readonly string[]): Record<string, string> {
  const [word, other] = words;
  return word === undefined || other !== undefined ? {} : { [key]: word };
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}
