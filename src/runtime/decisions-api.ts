import { RuntimeError } from '../base/errors.ts';
import { parseLossless } from '../base/json/json.ts';
import type {
  Conversation,
  DecisionCounts,
  DecisionPage,
  RecordedDecision,
  RecordedGap,
  RecordedModelCall,
} from '../contract/decision.ts';
import type { HookMode, Verdict } from '../contract/hook.ts';
import type { ChatMessage } from '../contract/provider.ts';
import { requirePending } from '../pipelines/run/decisions.ts';
import type {
  CallFilter,
  DecisionCount,
  DecisionStore,
  KeptDecision,
  KeptModelCall,
} from '../store/decision-store.ts';
import type { Store } from '../store/store.ts';
import type {
  ConversationOf,
  DecisionCountFilter,
  DecisionFilter,
  DecisionPageFilter,
} from './api-options.ts';
import { readCursor, readPageSize, requireTexts, timeOf, toCursor } from './cursor.ts';

export interface DecisionsContext {
  /** Undefined if nothing was ever recorded. */
  readonly openStore: () => Promise<DecisionStore | undefined>;
  readonly openState: () => Promise<Store>;
}

/** The methods throw USAGE, STORE_FAILED. */
export function openDecisionsApi({ openStore, openState }: DecisionsContext) {
  return {
    page: async ({ limit, after, ...filter }: DecisionPageFilter = {}): Promise<DecisionPage> => {
      const most = readPageSize(limit);
      const wanted = { ...toStoreFilter(filter), after: readCursor('decision', after) };
      const rows = (await (await openStore())?.page({ ...wanted, limit: most + 1 })) ?? [];
      const shown = rows.slice(0, most);
      return { decisions: shown.map(toRecorded), ...nextOf('decision', rows, most) };
    },
    counts: async ({ every, ...filter }: DecisionCountFilter = {}): Promise<DecisionCounts> => {
      const wanted = toStoreFilter(filter);
      const everyMs = readEvery(every, wanted);
      const store = await openStore();
      const counted = (await store?.count({ ...wanted, everyMs })) ?? [];
      const buckets = counted.map(({ at = 0, ...count }) => ({
        at: new Date(at).toISOString(),
        ...toCount(count),
      }));
      return {
        total: counted.reduce((sum, { count }) => sum + count, 0),
        counts: sumOf(counted).map(toCount),
        ...(everyMs !== undefined && { buckets }),
        dropped: (await store?.countDropped('decisions', wanted)) ?? 0,
      };
    },
    conversation: async ({ limit, after, ...of }: ConversationOf): Promise<Conversation> => {
      const most = readPageSize(limit);
      const behind = readCursor('call', after);
      const wanted = await toCallFilter(of, openState);
      const store = await openStore();
      if (store === undefined) return { calls: [], dropped: 0 };
      const rows = await store.pageCalls({ ...wanted, after: behind, limit: most + 1 });
      const shown = rows.slice(0, most);
      const since = shown[0]?.at ?? 0;
      return {
        calls: await readCalls(store, shown),
        dropped: await store.countDropped('model_calls', { since }),
        ...nextOf('call', rows, most),
      };
    },
  };
}

function toCount({ mode, verdict, ...count }: Omit<DecisionCount, 'at'>) {
  return { ...count, mode: mode as HookMode, verdict: verdict as Verdict };
}

function sumOf(counted: readonly DecisionCount[]): Omit<DecisionCount, 'at'>[] {
  const keyOf = ({ hook, mode, verdict }: DecisionCount) => JSON.stringify([hook, mode, verdict]);
  return [...Map.groupBy(counted, keyOf)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, group]) => {
      const [first] = group;
      if (first === undefined) return [];
      const { at: _, ...rest } = first;
      return [{ ...rest, count: group.reduce((sum, { count }) => sum + count, 0) }];
    });
}

function nextOf(kind: string, rows: readonly { readonly place: number }[], most: number) {
  const last = rows.length > most ? rows[most - 1] : undefined;
  return last && { next: toCursor(kind, last.place) };
}

async function readCalls(store: DecisionStore, rows: readonly KeptModelCall[]): Promise<RecordedModelCall[]> {
  const calls: RecordedModelCall[] = [];
  let before: readonly number[] = [];
  for (const row of rows) {
    const repeated = countRepeated(before, row);
    const ids = row.messages.slice(repeated);
    const texts = await store.readMessages([...new Set(ids)]);
    const shown = ids.flatMap((id) => {
      const text = texts.get(id);
      return text === undefined ? [] : [parseLossless(text) as ChatMessage];
    });
    const answersAt = shown.length - row.answers;
    const { id, provider, model } = row;
    calls.push({
      ...{ id, at: new Date(row.at).toISOString(), provider, model, ...originOf(row), repeated },
      messages: shown.slice(0, answersAt),
      answers: shown.slice(answersAt),
    });
    before = row.messages;
  }
  return calls;
}

function countRepeated(before: readonly number[], { messages, answers }: KeptModelCall): number {
  const most = Math.min(before.length, messages.length - answers);
  let repeated = 0;
  while (repeated < most && before[repeated] === messages[repeated]) repeated += 1;
  return repeated;
}

function originOf({
  operation,
  operationId,
  run,
  step,
}: Pick<KeptModelCall, 'operation' | 'operationId' | 'run' | 'step'>) {
  return { operation: operation === '' ? null : operation, operation_id: operationId, run_id: run, step };
}

function toRecorded(row: KeptDecision): RecordedDecision | RecordedGap {
  const at = new Date(row.at).toISOString();
  if ('dropped' in row) return { type: 'gap', at, what: row.what, dropped: row.dropped };
  const { hook, dialect, kind, phase, mode, verdict, reason, error, durationMs, event } = row;
  return {
    ...{ type: 'decision', at, hook, dialect, kind: kind as RecordedDecision['kind'], phase },
    ...{ mode: mode as HookMode, verdict: verdict as Verdict, reason, error, duration_ms: durationMs, event },
    ...originOf(row),
  };
}

function toStoreFilter({ since, until, ...filter }: DecisionFilter) {
  requireTexts(filter);
  return { ...filter, since: timeOf('since', since), until: timeOf('until', until) };
}

/** The length of a bucket in milliseconds. Throws USAGE. */
function readEvery(
  every: unknown,
  { since, until = Date.now() }: ReturnType<typeof toStoreFilter>,
): number | undefined {
  if (every === undefined) return undefined;
  const refuse = (why: string) =>
    new RuntimeError('USAGE', `\`every\` ${why}`, { details: { path: 'every' } });
  const ms = every === 'hour' ? HOUR_MS : every === 'day' ? 24 * HOUR_MS : undefined;
  if (ms === undefined) throw refuse('is neither `hour` nor `day`');
  if (since === undefined) throw refuse('requires `since`');
  if ((until - since) / ms <= MOST_BUCKETS) return ms;
  throw refuse(`gives more than ${MOST_BUCKETS.toLocaleString('en')} ${every}s since \`since\``);
}

const HOUR_MS = 3_600_000;
const MOST_BUCKETS = 10_000;

async function toCallFilter(
  { pending, run, step, operation }: ConversationOf,
  openState: DecisionsContext['openState'],
): Promise<CallFilter> {
  requireTexts({ pending, run, step, operation });
  if ([pending, run, operation].filter((each) => each !== undefined).length !== 1)
    throw new RuntimeError('USAGE', 'a conversation is that of one `run`, one `pending` or one `operation`');
  if (pending === undefined) return { run, step, operationId: operation };
  const { runId, step: place } = await requirePending(await openState(), pending);
  return { run: runId, step: place };
}
