import type { PendingCall, PendingRecord, Ruling } from '../contract/approval.ts';
import type { RuntimeError } from '../errors.ts';
import { decodeFault, encodeFault } from './fault-text.ts';
import { checkRunId, isEnded, rulingOfEndedRun, runExists, runUnknown, storeClosed } from './rules.ts';
import type { Claim, NewRun, RunChange, RunMoment, RunRecord, StepRecord, Store } from './store.ts';

/** A store that ends with its process: for trials and tests, and for those who want nothing on a disk. */
export function createMemoryStore(): Store {
  const state: State = {
    runs: new Map(),
    pendings: new Map(),
    claimed: new Set(),
    watching: new Set(),
    closed: false,
  };
  const open = async <Result>(work: () => Result): Promise<Result> => {
    if (state.closed) throw storeClosed(place);
    return work();
  };
  return {
    place,
    createRun: (run) => open(() => createRun(state, run)),
    findRun: (id) => open(() => state.runs.get(id)?.record),
    findRunStatus: (id) => open(() => state.runs.get(id)?.record.status),
    listRuns: (filter = {}) => open(() => listRuns(state, filter)),
    setRunStatus: (id, change) => open(() => setRunStatus(state, id, change)),
    claimRun: (id) => open(() => claimRun(state, id)),
    prune: (before) => open(() => prune(state, before)),
    beginStep: (runId, step, at) => open(() => beginStep(requireRun(state, runId), step, at)),
    endStep: (runId, step, outcome, at) =>
      open(() => {
        const run = requireRun(state, runId);
        const begun = run.steps.get(step) ?? newStep(step, at);
        if (begun.endedAt !== null) return;
        run.steps.set(step, { ...begun, outcome, endedAt: at });
        run.moments.push({ what: 'ended', subject: step });
      }),
    listSteps: (runId) => open(() => [...(state.runs.get(runId)?.steps.values() ?? [])]),
    listMoments: (runId) => open(() => [...(state.runs.get(runId)?.moments ?? [])]),
    addPending: (call) => open(() => addPending(state, call)),
    decide: (id, ruling, at) => open(() => decide(state, { id, ruling, at })),
    findPending: (id, at) =>
      open(() => {
        expireDue(state, at);
        return state.pendings.get(id);
      }),
    listPendings: (filter, at) => open(() => listPendings(state, filter, at)),
    listExpired: (at) => open(() => listExpired(state, at)),
    watch: (tell) => {
      state.watching.add(tell);
      return { isLive: () => true, close: () => state.watching.delete(tell) };
    },
    close: async () => {
      state.closed = true;
      state.claimed.clear();
    },
  };
}

const place = 'in memory';

interface State {
  readonly runs: Map<string, Run>;
  readonly pendings: Map<string, PendingRecord>;
  readonly claimed: Set<string>;
  readonly watching: Set<() => void>;
  closed: boolean;
}

interface Run {
  readonly record: RunRecord;
  /** In the order in which they began. */
  readonly steps: Map<string, StepRecord>;
  readonly moments: RunMoment[];
}

function createRun(state: State, run: NewRun): void {
  checkRunId(run.id);
  if (state.runs.has(run.id)) throw runExists(run.id, place);
  const { id, kind, name, file, source, config, input, createdAt } = run;
  const begun = { id, kind, name, file, source, config, input, createdAt };
  const record: RunRecord = { ...begun, status: 'running', output: null, error: null, updatedAt: createdAt };
  state.runs.set(id, { record, steps: new Map(), moments: [] });
}

function listRuns(state: State, { status, limit }: Parameters<Store['listRuns']>[0] & object): RunRecord[] {
  return [...state.runs.values()]
    .map(({ record }) => record)
    .filter((record) => status === undefined || record.status === status)
    .reverse()
    .slice(0, limit);
}

function setRunStatus(state: State, id: string, change: RunChange): boolean {
  const run = state.runs.get(id);
  if (run === undefined || isEnded(run.record.status)) return false;
  const { status, at } = change;
  const output = change.output === undefined ? run.record.output : change.output;
  const error = change.error === undefined ? run.record.error : copyFault(change.error);
  state.runs.set(id, { ...run, record: { ...run.record, status, output, error, updatedAt: at } });
  if (isEnded(status)) cancelOpen(state, id, at);
  return true;
}

function copyFault(fault: RunRecord['error']): RunRecord['error'] {
  return fault && decodeFault(encodeFault(fault));
}

function claimRun(state: State, id: string): Claim | undefined {
  checkRunId(id);
  if (state.claimed.has(id)) return undefined;
  state.claimed.add(id);
  let held = true;
  return {
    release: async () => {
      // A second release must not take the run from whoever claimed it since.
      if (held) state.claimed.delete(id);
      held = false;
    },
  };
}

function prune(state: State, before: number): number {
  const old = [...state.runs.values()]
    .map(({ record }) => record)
    .filter(({ id, status, updatedAt }) => isEnded(status) && updatedAt < before && !state.claimed.has(id));
  for (const { id } of old) {
    state.runs.delete(id);
    for (const pending of state.pendings.values())
      if (pending.runId === id) state.pendings.delete(pending.id);
  }
  return old.length;
}

function requireRun(state: State, id: string): Run {
  const run = state.runs.get(id);
  if (run === undefined) throw unknown(id);
  return run;
}

function unknown(id: string): RuntimeError {
  return runUnknown(id, place);
}

function beginStep({ steps, moments }: Run, step: string, at: number): { attempt: number } {
  if (!steps.has(step)) moments.push({ what: 'began', subject: step });
  const begun = steps.get(step) ?? newStep(step, at);
  const attempts = begun.attempts + 1;
  steps.set(step, { ...begun, attempts });
  return { attempt: attempts };
}

function newStep(step: string, at: number): StepRecord {
  return { step, attempts: 0, outcome: null, beganAt: at, endedAt: null };
}

function addPending(state: State, call: PendingCall): PendingRecord {
  const kept = state.pendings.get(call.id);
  if (kept !== undefined) return kept;
  const { status } = requireRun(state, call.runId).record;
  const { id, runId, step, callId, tool, args, origin, hook } = call;
  const { reason, message, members, previous, createdAt, expiresAt } = call;
  const words = { reason, message, members, previous, createdAt, expiresAt };
  const record = {
    id,
    runId,
    step,
    callId,
    tool,
    args,
    origin,
    hook,
    ...words,
    ruling: null,
    decidedAt: null,
  };
  state.pendings.set(id, record);
  requireRun(state, runId).moments.push({ what: 'pending', subject: id });
  return isEnded(status) ? rule(state, record, rulingOfEndedRun(status), createdAt) : record;
}

function decide(
  state: State,
  { id, ruling, at }: { id: string; ruling: Ruling; at: number },
): { won: boolean; record: PendingRecord } | undefined {
  expireDue(state, at);
  const record = state.pendings.get(id);
  if (record === undefined) return undefined;
  if (record.ruling !== null) return { won: false, record };
  return { won: true, record: rule(state, record, ruling, at) };
}

function listPendings(
  state: State,
  { runId, open }: Parameters<Store['listPendings']>[0],
  at: number,
): PendingRecord[] {
  expireDue(state, at);
  return [...state.pendings.values()]
    .filter((record) => runId === undefined || record.runId === runId)
    .filter((record) => open === undefined || (record.ruling === null) === open);
}

function listExpired(state: State, at: number): string[] {
  expireDue(state, at);
  const pendings = [...state.pendings.values()];
  return [...state.runs.values()]
    .map(({ record }) => record)
    .filter(({ status }) => !isEnded(status))
    .filter(({ id }) => {
      const rulings = pendings.filter(({ runId }) => runId === id).map(({ ruling }) => ruling);
      return rulings.some((ruling) => ruling?.kind === 'expired') && !rulings.includes(null);
    })
    .map(({ id }) => id);
}

function cancelOpen(state: State, runId: string, at: number): void {
  expireDue(state, at);
  const status = requireRun(state, runId).record.status;
  for (const record of state.pendings.values()) {
    if (record.runId === runId && record.ruling === null) rule(state, record, rulingOfEndedRun(status), at);
  }
}

function expireDue(state: State, at: number): void {
  for (const record of state.pendings.values()) {
    const { ruling, expiresAt } = record;
    if (ruling === null && expiresAt !== null && expiresAt <= at) {
      rule(state, record, { kind: 'expired' }, expiresAt);
    }
  }
}

function rule(state: State, open: PendingRecord, ruling: Ruling, decidedAt: number): PendingRecord {
  const record = { ...open, ruling, decidedAt };
  state.pendings.set(record.id, record);
  state.runs.get(record.runId)?.moments.push({ what: 'decided', subject: record.id });
  for (const tell of state.watching) tell();
  return record;
}
