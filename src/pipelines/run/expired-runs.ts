import { RuntimeError } from '../../base/errors.ts';
import type { Json } from '../../base/json/json.ts';
import type { DecidedRecord } from '../../calls/tool-call/pending-call.ts';
import type { PendingRecord } from '../../contract/approval.ts';
import type { RuntimeEvent } from '../../contract/event.ts';
import type { RunRecord, Store } from '../../store/store.ts';
import type { Pipeline } from '../file/pipeline.ts';
import { type Journal, RunSuspended } from '../state/journal.ts';
import { toCurrentSteps } from '../state/retries.ts';
import type { RunContext } from '../state/run-context.ts';
import { openSession, sessionEvent } from '../state/session.ts';
import { isRunEnd, type RunEnd, runPipeline } from './execute-run.ts';
import { labelsOf, type RunsContext } from './runs.ts';

/** Other runs stay pending until they are resumed, since listing runs must not start work. Throws STORE_FAILED. */
export async function endExpired(
  context: RunsContext,
  toPipeline: (run: RunRecord) => Pipeline,
): Promise<void> {
  for (const id of await context.store.listExpired(Date.now())) {
    try {
      await endIfExpired(context, id, toPipeline);
    } catch (error) {
      // A run that this config cannot read must not hide the others; it fails when it is resumed.
      if (!(error instanceof RuntimeError)) throw error;
    }
  }
}

async function endIfExpired(
  context: RunsContext,
  id: string,
  toPipeline: (run: RunRecord) => Pipeline,
): Promise<void> {
  const { store } = context;
  const claim = await store.claimRun(id);
  if (claim === undefined) return;
  try {
    const record = await store.findRun(id);
    if (record === undefined) return;
    const pendings = await store.listPendings({ runId: id }, Date.now());
    const dryRun = await openDryRun(store, id, pendings);
    const events: RuntimeEvent[] = [];
    const run: RunContext = {
      ...withoutEffects(context, dryRun),
      name: record.name,
      labels: labelsOf(record),
      isKept: true,
      // A run that a fault would end is left for a resume.
      suspendsOnFault: true,
      journal: dryRun.journal,
      signal: new AbortController().signal,
      session: { ...(await openSession(store, record)) },
      emit: (event) => events.push(event),
      retry: 0,
      place: '',
      runBelow: async () => dryRun.refuse(),
    };
    const end = await runPipeline(run, toPipeline(record), { input: record.input, isResumed: true });
    if (!isRunEnd(end) || !dryRun.hasEnded()) return;
    await storeEnd(context, record, { end, dryRun, pendings });
    for (const event of events) context.services.emit(event);
    const about = { run: id, name: record.name, status: end.status };
    context.services.emit({ type: 'run.finished', ...about, ...(end.error && { error: end.error }) });
    if (record.kind === 'pipeline') await context.services.notifySession('session_end', sessionEvent(run));
  } finally {
    await claim.release();
  }
}

function withoutEffects({ services }: RunsContext, { refuse }: DryRun): RunsContext['services'] {
  const refused = async () => refuse();
  return {
    ...services,
    links: [],
    notifySession: async () => {},
    model: refused,
    score: refused,
    fire: refused,
  };
}

async function storeEnd(
  { store }: RunsContext,
  { id }: RunRecord,
  { end, dryRun, pendings }: { end: RunEnd; dryRun: DryRun; pendings: readonly PendingRecord[] },
): Promise<void> {
  const at = Math.max(...pendings.map(({ decidedAt }) => decidedAt ?? 0));
  for (const [name, outcome] of dryRun.newOutcomes)
    await store.endStep(id, dryRun.storedName(name), outcome, at);
  await store.setRunStatus(id, { ...end, at });
}

/** Replays a run from its journal without side effects and stops at the first new work. */
interface DryRun {
  readonly journal: Journal;
  readonly newOutcomes: ReadonlyMap<string, Json>;
  readonly storedName: (path: string) => string;
  readonly refuse: () => never;
  readonly hasEnded: () => boolean;
}

async function openDryRun(store: Store, runId: string, pendings: readonly PendingRecord[]): Promise<DryRun> {
  const { current, storedName, editionOf } = toCurrentSteps(runId, await store.listSteps(runId));
  const storedOutcomes = new Map([...current].map(([step, { outcome }]) => [step, outcome]));
  const made = new Map<string, Json>();
  const expired = new Set<string>();
  let isStuck = false;
  const refuse = (): never => {
    isStuck = true;
    throw new RunSuspended();
  };
  const isExpiry = (name: string) => [...expired].some((begin) => name.startsWith(begin));
  const find = (name: string) => made.get(name) ?? storedOutcomes.get(name) ?? undefined;
  const decisionOf = (id: string): DecidedRecord => {
    const { ruling, ...record } = pendings.find((pending) => pending.id === id) ?? refuse();
    if (ruling === null || ruling.kind === 'cancelled') return refuse();
    if (ruling.kind === 'expired') expired.add(`${record.step}/ruling-`);
    return { ...record, ruling };
  };
  const journal: Journal = {
    ...{ runId, editionOf },
    find,
    wasCutOff: () => false,
    requireWritable: (name) => {
      if (!isExpiry(name)) refuse();
    },
    step: async (name, work, { holdsSteps = false } = {}) => {
      const known = find(name);
      if (known !== undefined) return known;
      // An expired call has a known outcome and runs nothing.
      if (!holdsSteps && !isExpiry(name)) refuse();
      const outcome = await work();
      made.set(name, outcome);
      return outcome;
    },
    decide: async (calls) => calls.map(({ id }) => decisionOf(id)),
  };
  const isOver = () => !isStuck && [...made.keys()].some(isExpiry);
  return { journal, newOutcomes: made, storedName, refuse, hasEnded: isOver };
}
