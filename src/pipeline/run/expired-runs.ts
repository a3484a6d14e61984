import type { PendingRecord } from '../../contract/approval.ts';
import type { RuntimeEvent } from '../../contract/event.ts';
import { RuntimeError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import type { RunRecord, Store } from '../../store/store.ts';
import type { Pipeline } from '../file/model.ts';
import { type Journal, type Ruled, RunPaused } from '../state/journal.ts';
import type { RunContext } from '../state/run-context.ts';
import { sessionEvent } from '../state/session-event.ts';
import { type RunEnd, runPipeline } from './run.ts';
import { openSession, type RunsContext } from './runs.ts';

/**
 * Ends the runs in which nobody has decided in time, where that is the end of them: a run that would go on, with an
 * `on_error` that does something or an answer of a model, waits to be resumed, for to look is not to act. Throws STORE_FAILED.
 */
export async function endExpired(
  context: RunsContext,
  toPipeline: (run: RunRecord) => Pipeline,
): Promise<void> {
  for (const id of await context.store.listExpired(Date.now())) {
    try {
      await endOne(context, id, toPipeline);
    } catch (error) {
      // A run that cannot be read as this config stands is told of by whoever resumes it, and keeps no other from being seen.
      if (!(error instanceof RuntimeError)) throw error;
    }
  }
}

async function endOne(
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
    const rehearsal = await openRehearsal(store, id, pendings);
    const events: RuntimeEvent[] = [];
    const run: RunContext = {
      ...inert(context, rehearsal),
      name: record.name,
      isKept: true,
      journal: rehearsal.journal,
      signal: new AbortController().signal,
      session: { ...(await openSession(store, id)) },
      emit: (event) => events.push(event),
    };
    const end = await runPipeline(run, toPipeline(record), { input: record.input, isResumed: true });
    if (end === undefined || !rehearsal.isOver()) return;
    await keepEnd(context, record, { end, rehearsal, pendings });
    for (const event of events) context.equipment.emit(event);
    const about = { run: id, name: record.name, status: end.status };
    context.equipment.emit({ type: 'run.finished', ...about, ...(end.error && { error: end.error }) });
    if (record.kind === 'pipeline') await context.equipment.tell('session_end', sessionEvent(run));
  } finally {
    await claim.release();
  }
}

/** Equipment with which nothing can be done. */
function inert({ equipment }: RunsContext, { refuse }: Rehearsal): RunsContext['equipment'] {
  const refused = async () => refuse();
  return { ...equipment, links: [], tell: async () => {}, model: refused, score: refused, fire: refused };
}

async function keepEnd(
  { store }: RunsContext,
  { id }: RunRecord,
  { end, rehearsal, pendings }: { end: RunEnd; rehearsal: Rehearsal; pendings: readonly PendingRecord[] },
): Promise<void> {
  // Nothing has happened in the run since.
  const at = Math.max(...pendings.map(({ decidedAt }) => decidedAt ?? 0));
  for (const [name, outcome] of rehearsal.made) await store.endStep(id, name, outcome, at);
  await store.setRunStatus(id, { ...end, at });
}

/** A run that is gone through once more without anything being done: what would be done ends it. */
interface Rehearsal {
  readonly journal: Journal;
  /** The outcomes that followed from what is kept, in the order in which they did. */
  readonly made: ReadonlyMap<string, Json>;
  readonly refuse: () => never;
  /** Whether it came to its end, by way of what has expired. */
  readonly isOver: () => boolean;
}

async function openRehearsal(
  store: Store,
  runId: string,
  pendings: readonly PendingRecord[],
): Promise<Rehearsal> {
  const kept = new Map((await store.listSteps(runId)).map(({ step, outcome }) => [step, outcome]));
  const made = new Map<string, Json>();
  const expired = new Set<string>();
  let isStuck = false;
  const refuse = (): never => {
    isStuck = true;
    throw new RunPaused();
  };
  const isExpiry = (name: string) => [...expired].some((begin) => name.startsWith(begin));
  const find = (name: string) => made.get(name) ?? kept.get(name) ?? undefined;
  const rulingOf = (id: string): Ruled => {
    const { ruling, ...record } = pendings.find((pending) => pending.id === id) ?? refuse();
    if (ruling === null || ruling.kind === 'cancelled') return refuse();
    if (ruling.kind === 'expired') expired.add(`${record.step}/ruling-`);
    return { ...record, ruling };
  };
  const journal: Journal = {
    runId,
    find,
    wasCutOff: () => false,
    requireWanted: (name) => {
      if (!isExpiry(name)) refuse();
    },
    step: async (name, work, { holdsSteps = false } = {}) => {
      const known = find(name);
      if (known !== undefined) return known;
      // Of a call that has expired nothing is called: its outcome follows from that alone.
      if (!holdsSteps && !isExpiry(name)) refuse();
      const outcome = await work({ attempt: 1 });
      made.set(name, outcome);
      return outcome;
    },
    decide: async (calls) => calls.map(({ id }) => rulingOf(id)),
  };
  const isOver = () => !isStuck && [...made.keys()].some(isExpiry);
  return { journal, made, refuse, isOver };
}
