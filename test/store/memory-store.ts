import type { RuntimeError } from '../../src/base/errors.ts';
import { parseLossless, stringifyJson } from '../../src/base/json/json.ts';
import type { PendingCall, PendingDecision, PendingRecord } from '../../src/contract/approval.ts';
import { readStoredFault } from '../../src/contract/stored-fault.ts';
import { IDENTITY_MS, type KeptIdentity } from '../../src/store/identities.ts';
import { digestOfPin, type KeptPin } from '../../src/store/pins.ts';
import type {
  Claim,
  NewRun,
  PendingCount,
  PendingPageFilter,
  PlacedPending,
  PlacedStep,
  RunChange,
  RunFilter,
  RunHistoryEntry,
  RunRecord,
  RunSummary,
  StepRecord,
  Store,
} from '../../src/store/store.ts';
import {
  checkRunId,
  closedStoreError,
  decisionOfEndedRun,
  duplicateRunError,
  endedRunError,
  isEnded,
  isReopenable,
  unknownRunError,
} from '../../src/store/store-rules.ts';
import type { DueFilter, DueRun, DueRuns } from '../../src/store/suspension.ts';

/** The oracle of the model test: the contract of `Store` over plain maps, written by hand. */
export function createMemoryStore(): Store {
  const state: State = {
    runs: new Map(),
    pendings: new Map(),
    claimed: new Set(),
    identities: [],
    pins: new Map(),
    listeners: new Set(),
    closed: false,
  };
  const ifOpen = async <Result>(work: () => Result): Promise<Result> => {
    if (state.closed) throw closedStoreError(storeLocation);
    return work();
  };
  return {
    location: storeLocation,
    changes: { kinds: [], watch: () => ({ isLive: () => true, close: () => {} }) },
    outbox: {
      setRules: async () => {},
      take: async () => [],
      remove: async () => {},
      postpone: async () => {},
      nextDue: async () => undefined,
    },
    claimIdentity: (wanted) =>
      ifOpen(() => {
        const known = wanted.key === null ? undefined : findIdentity(state, wanted.key, wanted.at);
        if (known === undefined) state.identities.push(wanted);
        return known ?? wanted;
      }),
    findIdentity: (by) =>
      ifOpen(() =>
        'key' in by ? findIdentity(state, by.key, by.at) : state.identities.find(({ run }) => run === by.run),
      ),
    endIdentity: (key, run) =>
      ifOpen(() => {
        const at = state.identities.findIndex((known) => known.key === key && known.run === run);
        const known = state.identities[at];
        if (known !== undefined) state.identities[at] = { ...known, key: null };
        return known !== undefined;
      }),
    findPin: (server) => ifOpen(() => state.pins.get(server)),
    addPin: ({ server, text, at }) =>
      ifOpen(() => {
        const digest = digestOfPin(text);
        const pin = state.pins.get(server) ?? {
          ...{ server, text, digest, pinnedAt: at, acceptedBy: null, acceptedAt: null },
        };
        state.pins.set(server, pin);
        return pin;
      }),
    acceptPin: ({ server, text, by, at, instead }) =>
      ifOpen(() => {
        const found = state.pins.get(server);
        if (found?.digest !== instead) return undefined;
        const pin = { ...found, text, digest: digestOfPin(text), acceptedBy: by, acceptedAt: at };
        state.pins.set(server, pin);
        return pin;
      }),
    createRun: (run) => ifOpen(() => createRun(state, run)),
    findRun: (id) => ifOpen(() => state.runs.get(id)?.record),
    findRunStatus: (id) => ifOpen(() => state.runs.get(id)?.record.status),
    listRuns: (filter = {}) => ifOpen(() => listRuns(state, filter)),
    summarizeRuns: (filter, at) =>
      ifOpen(() => {
        expireDue(state, at);
        return listRuns(state, filter).map((run) => summaryOf(state, run));
      }),
    setRunStatus: (id, change) => ifOpen(() => setRunStatus(state, id, change)),
    listDue: (filter) =>
      ifOpen(() => {
        expireDue(state, filter.at);
        return listDue(state, filter);
      }),
    now: async () => Date.now(),
    claimRun: (id) => ifOpen(() => claimRun(state, id)),
    coverRun: (id) => ({
      confirm: async () => requireGoingOn(state, id),
      isLive: () => true,
      release: async () => {},
    }),
    prune: (before) => ifOpen(() => prune(state, before)),
    beginStep: (runId, step, at) => ifOpen(() => beginStep(requireRun(state, runId), step, at)),
    endStep: (runId, step, outcome, at) =>
      ifOpen(() => {
        const run = requireRun(state, runId);
        const begun = run.steps.get(step) ?? newStep(step, at);
        if (begun.endedAt !== null) return;
        run.steps.set(step, { ...begun, outcome, endedAt: at });
        run.history.push({ what: 'ended', subject: step });
      }),
    listSteps: (runId) => ifOpen(() => [...(state.runs.get(runId)?.steps.values() ?? [])]),
    pageSteps: (runId, { behind = 0, limit, part = '' }) =>
      ifOpen(() =>
        placedSteps(state, runId)
          .filter(({ step, place }) => place > behind && step.includes(part))
          .slice(0, limit),
      ),
    listStepsBelow: (runId, paths) =>
      ifOpen(() =>
        placedSteps(state, runId).filter(({ step }) => paths.some((path) => step.startsWith(`${path}/`))),
      ),
    listStepNames: (runId) =>
      ifOpen(() => placedSteps(state, runId).map(({ step, place }) => ({ step, place }))),
    readSteps: async function* (runIds) {
      for (const id of runIds) yield* await ifOpen(() => placedSteps(state, id));
    },
    listClaimed: () => ifOpen(() => new Set(state.claimed)),
    readText: () => {
      throw new Error('the plain maps keep every text where it stands');
    },
    listHistory: (runId, limit) =>
      ifOpen(() => (state.runs.get(runId)?.history ?? []).slice(0, limit ?? Number.POSITIVE_INFINITY)),
    addPending: (call) => ifOpen(() => addPending(state, call)),
    decide: (id, decision, at, others) => ifOpen(() => decide(state, { id, ruling: decision, at, others })),
    findPending: (id, at) =>
      ifOpen(() => {
        if (at !== undefined) expireDue(state, at);
        return state.pendings.get(id);
      }),
    listPendings: (filter, at) => ifOpen(() => listPendings(state, filter, at)),
    pagePendings: ({ after = -1, limit, ...filter }, at) =>
      ifOpen(() =>
        placePendings(state, filter, at)
          .filter(({ place }) => place > after)
          .slice(0, limit),
      ),
    countPendings: (filter, at) =>
      ifOpen(() => {
        const counts = new Map<string, PendingCount>();
        for (const { record } of placePendings(state, filter, at)) {
          const { tool, ruling } = record;
          const status = ruling?.kind ?? 'open';
          const key = JSON.stringify([tool, status]);
          counts.set(key, { tool, status, count: (counts.get(key)?.count ?? 0) + 1 });
        }
        return [...counts.values()];
      }),
    measurePendings: (at) =>
      ifOpen(() => {
        const waiting = [...state.pendings.values()].filter(({ ruling }) => ruling === null);
        const open = waiting.filter(({ expiresAt }) => expiresAt === null || expiresAt > at);
        const oldest = Math.min(at, ...open.map(({ createdAt }) => createdAt));
        return { open: open.length, overdue: waiting.length - open.length, oldestMs: at - oldest };
      }),
    listExpired: (at) => ifOpen(() => listExpired(state, at)),
    watch: (onChange) => {
      state.listeners.add(onChange);
      return { isLive: () => true, close: () => state.listeners.delete(onChange) };
    },
    close: async () => {
      state.closed = true;
      state.claimed.clear();
    },
  };
}

const storeLocation = 'in memory';

interface State {
  readonly runs: Map<string, StoredRun>;
  readonly pendings: Map<string, PendingRecord>;
  readonly claimed: Set<string>;
  readonly identities: KeptIdentity[];
  readonly pins: Map<string, KeptPin>;
  readonly listeners: Set<() => void>;
  closed: boolean;
}

interface StoredRun {
  readonly record: RunRecord;
  readonly steps: Map<string, StepRecord>;
  readonly history: RunHistoryEntry[];
}

function findIdentity(state: State, key: string, at: number): KeptIdentity | undefined {
  const known = state.identities.find((identity) => identity.key === key);
  const run = known && state.runs.get(known.run)?.record;
  const isUnderWay = run !== undefined && !isEnded(run.status);
  return isUnderWay || Math.max(known?.at ?? 0, run?.updatedAt ?? 0) > at - IDENTITY_MS ? known : undefined;
}

function createRun(state: State, run: NewRun): void {
  checkRunId(run.id);
  if (state.runs.has(run.id)) throw duplicateRunError(run.id, storeLocation);
  const { id, kind, name, file, source, config, input, createdAt, labels } = run;
  const begun = { id, kind, name, file, source, config, input, createdAt, ...(labels && { labels }) };
  const record: RunRecord = { ...begun, status: 'running', output: null, error: null, updatedAt: createdAt };
  state.runs.set(id, { record, steps: new Map(), history: [] });
}

function listRuns(state: State, filter: RunFilter): RunRecord[] {
  const { status, name, labels = {}, since = 0, until = Number.MAX_VALUE, limit } = filter;
  return [...state.runs.values()]
    .map(({ record }) => record)
    .filter((record) => status === undefined || record.status === status)
    .filter((record) => name === undefined || record.name === name)
    .filter(({ createdAt }) => since <= createdAt && createdAt < until)
    .filter((record) => Object.entries(labels).every(([key, value]) => record.labels?.[key] === value))
    .reverse()
    .slice(0, limit);
}

function listDue(state: State, { at, withFaults = false, id }: DueFilter): DueRuns {
  const runs = [...state.runs.values()].flatMap(({ record }): DueRun[] => {
    const { status, suspension: set } = record;
    if (isEnded(status) || status === 'queued' || (id !== undefined && id !== record.id)) return [];
    if (status === 'running') return [{ id: record.id, why: 'running' }];
    if (set !== undefined && (set.dueAt <= at || (withFaults && set.why === 'fault')))
      return [{ id: record.id, why: set.why }];
    const calls = [...state.pendings.values()].filter(({ runId }) => runId === record.id);
    const isDecided = calls.length > 0 && calls.every(({ ruling }) => ruling !== null);
    return isDecided && set?.waitsForCalls !== false ? [{ id: record.id, why: 'decided' }] : [];
  });
  const times = [
    ...[...state.runs.values()].flatMap(({ record }) =>
      isEnded(record.status) || record.status === 'running' ? [] : (record.suspension?.dueAt ?? []),
    ),
    ...[...state.pendings.values()].flatMap(({ ruling, expiresAt }) =>
      ruling === null ? (expiresAt ?? []) : [],
    ),
  ].filter((time) => time > at);
  return { runs, nextAt: times.length === 0 ? undefined : Math.min(...times) };
}

function setRunStatus(state: State, id: string, change: RunChange): boolean {
  const run = state.runs.get(id);
  if (run === undefined) return false;
  const { status, at } = change;
  if (change.reopens === true) {
    if (!isReopenable(run.record.status)) return false;
    state.runs.set(id, {
      ...run,
      record: { ...run.record, status, output: null, error: null, updatedAt: at },
    });
    return true;
  }
  if (isEnded(run.record.status)) return false;
  const output = change.output === undefined ? run.record.output : change.output;
  const error = change.error === undefined ? run.record.error : copyFault(change.error);
  const { suspension: before, ...bare } = run.record;
  // An earlier suspension stays while the run executes again.
  const suspension = status === 'running' ? before : change.suspension;
  const beside = suspension && {
    suspension: { ...suspension, error: copyFault(suspension.error) },
  };
  state.runs.set(id, { ...run, record: { ...bare, status, output, error, updatedAt: at, ...beside } });
  if (isEnded(status)) cancelOpenPendings(state, id, at);
  return true;
}

function copyFault(fault: RunRecord['error']): RunRecord['error'] {
  return fault && readStoredFault(parseLossless(stringifyJson(fault)));
}

function requireGoingOn(state: State, id: string): void {
  const status = state.runs.get(id)?.record.status;
  if (status !== undefined && isEnded(status)) throw endedRunError(id, status);
}

function claimRun(state: State, id: string): Claim | undefined {
  checkRunId(id);
  if (state.claimed.has(id)) return undefined;
  state.claimed.add(id);
  let held = true;
  return {
    confirm: async () => requireGoingOn(state, id),
    isLive: () => held,
    release: async () => {
      // A second release must not release a later claim of the run.
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

function placedSteps(state: State, runId: string): PlacedStep[] {
  const steps = [...(state.runs.get(runId)?.steps.values() ?? [])];
  return steps.map((step, index) => ({ ...step, place: index + 1 }));
}

function requireRun(state: State, id: string): StoredRun {
  const run = state.runs.get(id);
  if (run === undefined) throw unknownRun(id);
  return run;
}

function unknownRun(id: string): RuntimeError {
  return unknownRunError(id, storeLocation);
}

function beginStep({ steps, history }: StoredRun, step: string, at: number): { attempt: number } {
  if (!steps.has(step)) history.push({ what: 'began', subject: step });
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
  const quorum = call.quorum === undefined ? {} : { quorum: call.quorum };
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
    ...quorum,
    ruling: null,
    decidedAt: null,
  };
  state.pendings.set(id, record);
  requireRun(state, runId).history.push({ what: 'pending', subject: id });
  return isEnded(status) ? decidePending(state, record, decisionOfEndedRun(status), createdAt) : record;
}

function decide(
  state: State,
  {
    id,
    ruling,
    at,
    others,
  }: { id: string; ruling: PendingDecision; at: number; others?: number | undefined },
): { isAccepted: boolean; record: PendingRecord } | undefined {
  expireDue(state, at);
  const record = state.pendings.get(id);
  if (record === undefined) return undefined;
  if (record.ruling !== null) return { isAccepted: false, record };
  const given = (record.consents ?? []).filter(({ by }) => 'by' in ruling && by !== ruling.by);
  if (others !== undefined && given.length !== others) return { isAccepted: false, record };
  if (ruling.kind === 'approved' && (record.quorum ?? 1) > 1) {
    const { by, reason } = ruling;
    const { consents = [] } = record;
    const given = consents.some((each) => each.by === by) ? consents : [...consents, { by, reason, at }];
    const consented = { ...record, consents: given };
    state.pendings.set(id, consented);
    if (given.length < (record.quorum ?? 1)) return { isAccepted: true, record: consented };
    return { isAccepted: true, record: decidePending(state, consented, ruling, at) };
  }
  return { isAccepted: true, record: decidePending(state, record, ruling, at) };
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

function placePendings(
  state: State,
  { status, tool, tools, run, since = 0 }: Omit<PendingPageFilter, 'limit' | 'after'>,
  at: number,
): PlacedPending[] {
  expireDue(state, at);
  return [...state.pendings.values()]
    .map((record, index): PlacedPending => {
      const { kind, name, labels, status: runStatus } = requireRun(state, record.runId).record;
      return {
        record,
        place: index + 1,
        run: { kind, name, ...(labels && { labels }) },
        caller: null,
        principal: null,
        runStatus,
        hasContinued: false,
      };
    })
    .filter(({ record }) => status === undefined || (record.ruling?.kind ?? 'open') === status)
    .filter(({ record }) => tool === undefined || record.tool === tool)
    .filter(({ record }) => tools === undefined || tools.includes(record.tool))
    .filter(({ record }) => run === undefined || record.runId === run)
    .filter(({ record }) => record.createdAt >= since);
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

function cancelOpenPendings(state: State, runId: string, at: number): void {
  expireDue(state, at);
  const status = requireRun(state, runId).record.status;
  for (const record of state.pendings.values()) {
    if (record.runId === runId && record.ruling === null)
      decidePending(state, record, decisionOfEndedRun(status), at);
  }
}

function expireDue(state: State, at: number): void {
  for (const record of state.pendings.values()) {
    const { ruling, expiresAt } = record;
    if (ruling === null && expiresAt !== null && expiresAt <= at) {
      decidePending(state, record, { kind: 'expired' }, expiresAt);
    }
  }
}

function decidePending(
  state: State,
  open: PendingRecord,
  ruling: PendingDecision,
  decidedAt: number,
): PendingRecord {
  const record = { ...open, ruling, decidedAt };
  state.pendings.set(record.id, record);
  state.runs.get(record.runId)?.history.push({ what: 'decided', subject: record.id });
  for (const tell of state.listeners) tell();
  return record;
}

function summaryOf(
  state: State,
  { id, kind, name, file, status, createdAt, updatedAt, labels, suspension }: RunRecord,
): RunSummary {
  const open = [...state.pendings.values()].filter(
    (record) => record.runId === id && record.ruling === null,
  ).length;
  const place = [...state.runs.keys()].indexOf(id) + 1;
  return {
    id,
    kind,
    name,
    file,
    status,
    createdAt,
    updatedAt,
    open,
    place,
    ...(labels && { labels }),
    ...(suspension && { suspension }),
  };
}
