import type { NewResult, NewResultRun, ResultRun, ResultStore, StoredResult } from './result-store.ts';
import { checkRunId, closedStoreError, duplicateRunError, missingRunError } from './store-rules.ts';

/** A result store in memory, lost at the end of the process. */
export function createMemoryResults(): ResultStore {
  const state: State = { runs: new Map(), answers: new Map(), claimed: new Set(), closed: false };
  const ifOpen = <Result>(work: () => Result): Result => {
    if (state.closed) throw closedStoreError(storeLocation);
    return work();
  };
  return {
    location: storeLocation,
    createRun: (run) => ifOpen(() => createRun(state, run)),
    findRun: (id) => ifOpen(() => state.runs.get(id)?.run),
    listRuns: (filter) => ifOpen(() => listRuns(state, filter)),
    setRunEnd: (id, { status, report }) =>
      ifOpen(() => {
        const kept = requireRun(state, id);
        kept.run = { ...kept.run, status, report };
      }),
    claimRun: async (id) => ifOpen(() => claimRun(state, id)),
    put: (record) => ifOpen(() => put(requireRun(state, record.runId), record)),
    putAll: (records) =>
      ifOpen(() => {
        for (const { kept, record } of records.map((each) => ({
          kept: requireRun(state, each.runId),
          record: each,
        }))) {
          put(kept, record);
        }
      }),
    append: (record) => ifOpen(() => append(state.runs.get(record.runId), record)),
    get: (runId, number, epoch) => ifOpen(() => state.runs.get(runId)?.records.get(keyOf({ number, epoch }))),
    records: (runId, filter) => readRecords(() => ifOpen(() => sortRecords(state, runId, filter?.caseId))),
    countRecords: (runId) => ifOpen(() => state.runs.get(runId)?.records.size ?? 0),
    findAnswer: (key) => ifOpen(() => state.answers.get(key)?.text),
    keepAnswer: (key, text) => ifOpen(() => void state.answers.set(key, { text, at: Date.now() })),
    prune: (before) => ifOpen(() => prune(state, before)),
    close: () => {
      state.closed = true;
      state.claimed.clear();
    },
  };
}

const storeLocation = 'in memory';

interface State {
  readonly runs: Map<string, StoredRun>;
  readonly answers: Map<string, { readonly text: string; readonly at: number }>;
  readonly claimed: Set<string>;
  closed: boolean;
}

interface StoredRun {
  run: ResultRun;
  readonly records: Map<string, StoredResult>;
}

function createRun({ runs }: State, run: NewResultRun): void {
  checkRunId(run.id);
  if (runs.has(run.id)) throw duplicateRunError(run.id, storeLocation);
  const { id, kind, name, file, fingerprint, createdAt, header } = run;
  const begun = { id, kind, name, file, fingerprint, createdAt, header };
  runs.set(id, { run: { ...begun, status: 'running', report: null }, records: new Map() });
}

function listRuns(
  { runs }: State,
  { name, kind, limit }: NonNullable<Parameters<ResultStore['listRuns']>[0]> = {},
): ResultRun[] {
  return [...runs.values()]
    .map(({ run }) => run)
    .filter((run) => (name === undefined || run.name === name) && (kind === undefined || run.kind === kind))
    .toReversed()
    .toSorted((one, other) => other.createdAt - one.createdAt)
    .slice(0, limit);
}

function claimRun({ claimed }: State, id: string): { release(): Promise<void> } | undefined {
  checkRunId(id);
  if (claimed.has(id)) return undefined;
  claimed.add(id);
  let held = true;
  return {
    release: async () => {
      // A second release must not release a later claim of the run.
      if (held) claimed.delete(id);
      held = false;
    },
  };
}

function put({ records }: StoredRun, { number, epoch, caseId, digest, text }: NewResult): void {
  records.set(keyOf({ number, epoch }), { number, epoch, caseId, digest, text });
}

function append(kept: StoredRun | undefined, record: Omit<NewResult, 'number'>): boolean {
  if (kept === undefined) return false;
  const numbers = [...kept.records.values()].map(({ number }) => number);
  put(kept, { ...record, number: 1 + numbers.reduce((most, number) => Math.max(most, number), 0) });
  return true;
}

function keyOf({ number, epoch }: Pick<StoredResult, 'number' | 'epoch'>): string {
  return `${number} ${epoch}`;
}

/** Defers the lookup to the first read, as the SQLite store does. */
function* readRecords(find: () => readonly StoredResult[]): Iterable<StoredResult> {
  yield* find();
}

function sortRecords({ runs }: State, runId: string, caseId: string | undefined): StoredResult[] {
  return [...(runs.get(runId)?.records.values() ?? [])]
    .filter((record) => caseId === undefined || record.caseId === caseId)
    .sort((one, other) => one.number - other.number || one.epoch - other.epoch);
}

function prune({ runs, answers, claimed }: State, before: number): number {
  const old = [...runs.values()]
    .map(({ run }) => run)
    .filter(({ id, createdAt }) => createdAt < before && !claimed.has(id));
  for (const { id } of old) runs.delete(id);
  for (const [key, { at }] of answers) if (at < before) answers.delete(key);
  return old.length;
}

function requireRun({ runs }: State, id: string): StoredRun {
  const kept = runs.get(id);
  if (kept === undefined) throw missingRunError(id, storeLocation);
  return kept;
}
