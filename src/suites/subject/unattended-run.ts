import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isObject, type Json, parseLossless } from '../../base/json/json.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { identityOf } from '../../config/overlay/identity.ts';
import type { EvalToolCall } from '../../contract/eval.ts';
import { wrapEmit } from '../../contract/event.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { RunDocument } from '../../contract/run.ts';
import { evalContextOf } from '../../pipelines/chat/model-usage.ts';
import type { viewOf } from '../../pipelines/chat/turn-state.ts';
import { everyPipeline } from '../../pipelines/file/below.ts';
import type { Chat, Pipeline, Step } from '../../pipelines/file/pipeline.ts';
import { requireRun } from '../../pipelines/run/new-run.ts';
import { cancelRun, type RunsContext, startRun } from '../../pipelines/run/runs.ts';
import { toolCallsOf } from '../../pipelines/state/requested-calls.ts';
import { stepEntryOf } from '../../pipelines/state/step-outcome.ts';
import { memoryFile } from '../../store/sqlite/connection.ts';
import { openSqliteStore } from '../../store/sqlite-store.ts';
import type { RunRecord, StepRecord, Store } from '../../store/store.ts';
import { emptyOutput, type SubjectContext, type SubjectOutput } from './adapter.ts';
import { pendingFault, readResult } from './tool.ts';

/** Runs a pipeline in memory. A pending call is an error. Rejects only with ABORTED. */
export async function runUnattended(
  pipeline: Pipeline,
  input: Json,
  { config, services, signal }: Pick<SubjectContext, 'config' | 'services'> & { signal: AbortSignal },
): Promise<SubjectOutput> {
  const store = idleStores.pop() ?? (await openSqliteStore(memoryFile));
  const emit = wrapEmit(services.emit, (event) => {
    // The store is temporary, so the call cannot be decided later.
    if (event.type !== 'pending.opened') services.emit(event);
  });
  const runs: RunsContext = {
    store,
    services: { ...services, emit },
    config: identityOf(config),
    isKept: false,
  };
  try {
    const document = await startRun(runs, pipeline, { input, signal });
    if (document.status === 'pending') await cancel(runs, document.run_id);
    const transcript = toTranscript(await readRuns(store, document, pipeline), config);
    return { ...emptyOutput, ...transcript, ...(await readEnd(runs, document)) };
  } catch (thrown) {
    const error = toRuntimeError(thrown);
    if (error.code !== 'ABORTED') return { ...emptyOutput, error: toFault(error) };
    const id = error.details['run_id'];
    if (typeof id === 'string') await cancel(runs, id);
    throw new RuntimeError('ABORTED', 'the run stopped before the subject answered', { cause: thrown });
  } finally {
    // The store holds only this run. If the run has ended, pruning leaves the store empty for reuse.
    if ((await store.prune(Number.MAX_SAFE_INTEGER)) === 1) idleStores.push(store);
    else await store.close();
  }
}

async function readRuns(
  store: Store,
  { run_id: id, status }: RunDocument,
  pipeline: Pipeline,
): Promise<TranscribedRun[]> {
  const runs: TranscribedRun[] = [{ run: { id, status }, steps: await store.listSteps(id), pipeline }];
  const known = everyPipeline(pipeline);
  if (known.size === 1) return runs;
  for (const run of await store.summarizeRuns({ root: id }, Date.now())) {
    const own = known.get(run.file ?? '');
    if (own !== undefined) runs.push({ run, steps: await store.listSteps(run.id), pipeline: own });
  }
  return runs;
}

/** Empty stores for reuse. Opening one takes longer than emptying it. */
const idleStores: Store[] = [];

/** Cancels the run, so that session hooks receive its end after its start. */
async function cancel(runs: RunsContext, id: string): Promise<void> {
  await cancelRun(runs, id, { by: 'signalbox', reason: 'a suite cannot ask anybody' });
}

async function readEnd(
  { store }: RunsContext,
  { run_id, status, pending, error }: RunDocument,
): Promise<Pick<SubjectOutput, 'text' | 'result' | 'error'>> {
  const [firstPending] = pending;
  if (firstPending !== undefined) return failedWith(pendingFault(firstPending.tool, firstPending));
  const { output } = await requireRun(store, run_id);
  if (output !== null) return readResult(output);
  return failedWith(error ?? toFault(new RuntimeError('INTERNAL', `the run is ${status} but has no output`)));
}

function failedWith(error: NonNullable<SubjectOutput['error']>) {
  return { text: '', result: null, error };
}

interface TranscribedRun {
  readonly run: Pick<RunRecord, 'id' | 'status'>;
  readonly steps: readonly StepRecord[];
  readonly pipeline: Pipeline;
}

function toTranscript(
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

function isChatView(view: unknown): view is ChatView {
  return isObject(view) && Array.isArray(view['messages']) && isObject(view['usage']);
}

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
