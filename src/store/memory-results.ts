import type { NewResult, NewResultRun, ResultRun, ResultStore, StoredResult } from './results.ts';
import { checkRunId, runExists, runGone, storeClosed } from './rules.ts';

/** Results that end with their process. */
export function createMemoryResults(): ResultStore {
  const state: State = { runs: new Map(), answers: new Map(), claimed: new Set(), closed: false };
  const open = <Result>(work: () => Result): Result => {
    if (state.closed) throw storeClosed(place);
    return work();
  };
  return {
    place,
    createRun: (run) => open(() => createRun(state, run)),
    findRun: (id) => open(() => state.runs.get(id)?.run),
    listRuns: (filter) => open(() => listRuns(state, filter)),
    setRunEnd: (id, { status, report }) =>
      open(() => {
        const kept = requireRun(state, id);
        kept.run = { ...kept.run, status, report };
      }),
    claimRun: async (id) => open(() => claimRun(state, id)),
    put: (record) => open(() => put(requireRun(state, record.runId), record)),
    putAll: (records) =>
      open(() => {
        for (const { kept, record } of records.map((each) => ({
          kept: requireRun(state, each.runId),
          record: each,
        }))) {
          put(kept, record);
        }
      }),
    append: (record) => open(() => append(state.runs.get(record.runId), record)),
    get: (runId, number, epoch) => open(() => state.runs.get(runId)?.records.get(keyOf({ number, epoch }))),
    records: (runId, filter) => readRecords(() => open(() => sortRecords(state, runId, filter?.caseId))),
    countRecords: (runId) => open(() => state.runs.get(runId)?.records.size ?? 0),
    findAnswer: (key) => open(() => state.answers.get(key)?.text),
    keepAnswer: (key, text) => open(() => void state.answers.set(key, { text, at: Date.now() })),
    prune: (before) => open(() => prune(state, before)),
    close: () => {
      state.closed = true;
      state.claimed.clear();
    },
  };
}

const place = 'in memory';

interface State {
  readonly runs: Map<string, Kept>;
  readonly answers: Map<string, { readonly text: string; readonly at: number }>;
  readonly claimed: Set<string>;
  closed: boolean;
}

interface Kept {
  run: ResultRun;
  readonly records: Map<string, StoredResult>;
}

function createRun({ runs }: State, run: NewResultRun): void {
  checkRunId(run.id);
  if (runs.has(run.id)) throw runExists(run.id, place);
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
      // A second release must not take the run from whoever claimed it since.
      if (held) claimed.delete(id);
      held = false;
    },
  };
}

function put({ records }: Kept, { number, epoch, caseId, digest, text }: NewResult): void {
  records.set(keyOf({ number, epoch }), { number, epoch, caseId, digest, text });
}

function append(kept: Kept | undefined, record: Omit<NewResult, 'number'>): boolean {
  if (kept === undefined) return false;
  const numbers = [...kept.records.values()].map(({ number }) => number);
  put(kept, { ...record, number: 1 + numbers.reduce((most, number) => Math.max(most, number), 0) });
  return true;
}

function keyOf({ number, epoch }: Pick<StoredResult, 'number' | 'epoch'>): string {
  return `${number} ${epoch}`;
}

/** Nothing is looked up before somebody reads. */
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

function requireRun({ runs }: State, id: string): Kept {
  const kept = runs.get(id);
  if (kept === undefined) throw runGone(id, place);
  return kept;
}
