import { isObject, parseLossless } from '../../base/json/json.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { evalContextOf } from '../../pipelines/chat/model-usage.ts';
import type { viewOf } from '../../pipelines/chat/turn-state.ts';
import type { Chat, Pipeline, Step } from '../../pipelines/file/pipeline.ts';
import { toolCallsOf } from '../../pipelines/state/requested-calls.ts';
import { stepEntryOf } from '../../pipelines/state/step-outcome.ts';
import type { RunRecord, StepRecord } from '../../store/store.ts';
import type { SubjectOutput } from './adapter.ts';

/** A run and its journal. */
export interface TranscribedRun {
  readonly run: Pick<RunRecord, 'id' | 'status'>;
  readonly steps: readonly StepRecord[];
  readonly pipeline: Pipeline;
}

/** The messages, tool calls and usage of the chats of a run and those below it, in the order in which the chats ended. */
export function toTranscript(
  runs: readonly TranscribedRun[],
  { providers }: Pick<RuntimeConfig, 'providers'>,
): Pick<SubjectOutput, 'messages' | 'tool_calls' | 'metadata'> {
  const all = runs.flatMap(({ run, steps, pipeline }) => {
    const known = new Map(chatsIn(pipeline.steps).map(({ id, chat }) => [id, chat]));
    return steps.flatMap((record) =>
      readChatTranscript(run, record, known).map((chat) => ({ ...chat, endedAt: record.endedAt ?? 0 })),
    );
  });
  const chats = runs.length === 1 ? all : all.toSorted((one, other) => one.endedAt - other.endedAt);
  return evalContextOf(
    chats.map(({ provider, view }) => {
      const { messages, usage, model = providers.find(({ id }) => id === provider)?.model } = view;
      const places = messageIndexesOfCalls(messages);
      const toolCalls = view.tool_calls.map((call, index) => toEvalCall(call, places[index] ?? 0));
      return { messages, toolCalls, usage: [usage], provider: view.provider ?? provider, model };
    }),
  );
}

type ChatView = Pick<ReturnType<typeof viewOf>, 'usage' | 'tool_calls' | 'provider' | 'model'> & {
  readonly messages: readonly ChatMessage[];
};

interface ChatTranscript {
  readonly provider: string;
  readonly view: ChatView;
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

/** Empty for a step that is not a chat, or that ended without a message. */
function readChatTranscript(
  run: Pick<RunRecord, 'id' | 'status'>,
  record: StepRecord,
  known: ReadonlyMap<string, Chat>,
): ChatTranscript[] {
  const entry = stepEntryOf(run, record);
  if (entry?.kind !== 'chat') return [];
  const view = parseLossless(entry.view.text);
  const id = record.step.replace(/^.*\//, '').replace(/\[\d+\]$/, '');
  return isChatView(view) ? [{ provider: known.get(id)?.provider ?? '', view }] : [];
}

/** Whether a view is complete; one of a chat that failed at once is empty. */
function isChatView(view: unknown): view is ChatView {
  return isObject(view) && Array.isArray(view['messages']) && isObject(view['usage']);
}

/** For each tool call, in their order, the position of the message that asked for it. */
function messageIndexesOfCalls(messages: readonly ChatMessage[]): number[] {
  return messages.flatMap((message, index) =>
    message.role === 'assistant' ? toolCallsOf(message).map(() => index) : [],
  );
}

function toEvalCall(
  { name, args, result, error }: ChatView['tool_calls'][number],
  index: number,
): EvalToolCall {
  return { name, args, result, error, index };
}
