import { setImmediate } from 'node:timers/promises';
import { RuntimeError } from '../base/errors.ts';
import { parseLossless, stringifyJson } from '../base/json/json.ts';
import { readShape, type Shape } from '../base/json/shape.ts';
import type {
  NewResult,
  Reopening,
  ReplacedResult,
  ResultRun,
  ResultStore,
  RunEnd,
  StoredResult,
} from '../store/result-store.ts';
import { type EvalWeighting, toCaseRecord } from './case/case-record.ts';
import { readReduction } from './file/model.ts';
import { listRatings } from './rating/ratings.ts';
import {
  type AgainScope,
  type CaseRecord,
  type EpochRecord,
  type ReplacedCase,
  type RunHeader,
  type RunReopening,
  type RunSource,
  runHeader,
  runReopening,
  type StoredEpoch,
  storedEpoch,
  suiteReport,
} from './record.ts';
import { digestOfCase } from './run/fingerprint.ts';
import type { EpochJournal, EpochKey } from './suite-run.ts';
import { numberAmong, placeOf, variantAmong } from './variants.ts';

/** Opens the journal of a run in the result store. `find` looks up earlier epochs only if the run is resumed. */
export function openJournal(store: ResultStore, runId: string, isResumed: boolean): EpochJournal {
  const putBatched = batchPuts(store);
  return {
    ...(isResumed && {
      find: async (place) => {
        const stored = await store.get(runId, numberAmong(place.row.number, place.variant), place.epoch);
        return stored?.digest === digestOfCase(place) ? readEpoch(stored).record : undefined;
      },
    }),
    keep: async (place, record) => await putBatched(toResult(runId, place, record)),
    end: async (report) =>
      await store.setRunEnd(runId, { status: report.status, report: stringifyJson(report) }),
    interrupt: async () => await store.setRunEnd(runId, { status: 'interrupted', report: null }),
  };
}

export function toResult(runId: string, place: EpochKey, record: EpochRecord): NewResult {
  const { row, kept, identity, epoch } = place;
  const { file, line } = row;
  const number = numberAmong(row.number, place.variant);
  const stored: StoredEpoch = { file, line, tags: identity.tags, ...(epoch === 1 && kept), record };
  const text = stringifyJson(stored);
  return { runId, number, epoch, caseId: identity.id, digest: digestOfCase(place), text };
}

/**
 * Stores all records of one event loop turn in a single, faster transaction. Records that arrive during a transaction
 * form the next one.
 */
function batchPuts(store: ResultStore): (record: NewResult) => Promise<void> {
  let gathered: { readonly records: NewResult[]; readonly kept: Promise<void> } | undefined;
  let last = Promise.resolve();
  const gather = () => {
    const records: NewResult[] = [];
    const keepAll = async (before: Promise<void>) => {
      await setImmediate();
      await before.catch(() => {});
      gathered = undefined;
      await store.putAll(records);
    };
    last = keepAll(last);
    return { records, kept: last };
  };
  return async (record) => {
    gathered ??= gather();
    gathered.records.push(record);
    await gathered.kept;
  };
}

export function openStoredRun(store: ResultStore, run: ResultRun): RunSource {
  const header = readHeader(run);
  const report = run.report === null ? undefined : readText(run.report, suiteReport);
  return {
    header,
    file: run.file,
    report,
    ...(isCutOff(run.status) ? { status: run.status } : {}),
    ratings: (caseId) => listRatings(store, run.id, caseId),
    reopenings: async () => (await store.reopenings(run.id)).map(toReopening),
    replaced: (caseId) => replacedCases(store, run.id, { header, caseId }),
    cases: async function* (caseId) {
      // A run that --bail ended may have stored more cases than it reports, so cases are counted.
      const most = report?.cases ?? Number.POSITIVE_INFINITY;
      const filter = report?.bailed === true ? {} : { caseId };
      let given = 0;
      for await (const record of casesOf(store.records(run.id, filter), header)) {
        if (given === most) return;
        given += 1;
        if (caseId === undefined || record.id === caseId) yield record;
      }
    },
  };
}

function toReopening({ number, scope, at, status, report }: Reopening): RunReopening {
  const read = { number, cases: scope, at: new Date(at).toISOString(), status };
  const known = readShape(runReopening, read, (path) => damagedStore(`a reopening of a run (at ${path})`));
  return report === null ? known : { ...known, report: readText(report, suiteReport) };
}

async function* replacedCases(
  store: ResultStore,
  runId: string,
  { header, caseId }: { readonly header: RunHeader; readonly caseId: string | undefined },
): AsyncGenerator<ReplacedCase> {
  const weightings = header.evals.map(toWeighting);
  // A row may have been replaced more than once since the same reopening.
  for await (const group of inGroups(store.replaced(runId, { caseId }), isOfOneReplacement)) {
    const [{ reopening }] = group;
    yield { reopening, case: toCase(group, weightings, header) };
  }
}

function isOfOneReplacement(before: ReplacedResult, next: ReplacedResult): boolean {
  return before.reopening === next.reopening && before.number === next.number && before.epoch !== next.epoch;
}

export async function numbersToJudge(
  store: ResultStore,
  run: ResultRun,
  cases: AgainScope,
): Promise<number[]> {
  const header = readHeader(run);
  const numbers: number[] = [];
  for await (const record of casesOf(store.records(run.id), header)) {
    if (!isToJudge[cases](record)) continue;
    numbers.push(numberAmong(record.number, placeOf(header.variants, record.variant)));
  }
  return numbers;
}

const isToJudge: Readonly<Record<AgainScope, (record: CaseRecord) => boolean>> = {
  failed: ({ passed }) => !passed,
  unscored: ({ epochs }) => epochs.some(({ results }) => results.some(({ score }) => score === null)),
  all: () => true,
};

/** Throws STORE_FAILED if the header cannot be read. */
export function readHeader(run: ResultRun): RunHeader {
  return readText(run.header, runHeader);
}

export function isCutOff(status: RunEnd): status is 'running' | 'interrupted' {
  return status === 'running' || status === 'interrupted';
}

async function* casesOf(records: AsyncIterable<StoredResult>, header: RunHeader): AsyncGenerator<CaseRecord> {
  const weightings = header.evals.map(toWeighting);
  for await (const group of inGroups(records, (before, next) => before.number === next.number))
    if (group.length === header.epochs) yield toCase(group, weightings, header);
}

async function* inGroups<Item>(
  items: AsyncIterable<Item>,
  isSame: (before: Item, next: Item) => boolean,
): AsyncGenerator<[Item, ...Item[]]> {
  let group: [Item, ...Item[]] | undefined;
  for await (const item of items) {
    const before = group?.at(-1);
    if (group !== undefined && before !== undefined && isSame(before, item)) group.push(item);
    else {
      if (group !== undefined) yield group;
      group = [item];
    }
  }
  if (group !== undefined) yield group;
}

function toCase(
  group: readonly StoredResult[],
  weightings: readonly EvalWeighting[],
  { variants }: RunHeader,
): CaseRecord {
  const epochs = group.map(readEpoch);
  const [first] = group;
  const [place] = epochs;
  if (first === undefined || place === undefined) throw damagedStore('a case without epochs');
  const { file, line, tags, row: ownFields, row_cuts: cuts } = place;
  const of = variants?.length ?? 1;
  const row = { number: Math.floor((first.number - 1) / of) + 1, file, line };
  return toCaseRecord(weightings, {
    row,
    id: first.caseId,
    variant: variants?.[variantAmong(first.number, of)]?.name,
    tags,
    epochs: epochs.map(({ record }) => record),
    kept: ownFields && { row: ownFields, ...(cuts && { row_cuts: cuts }) },
  });
}

function toWeighting({ id, role, weight, reducer }: RunHeader['evals'][number]): EvalWeighting {
  const reduction = readReduction(reducer);
  if (reduction === undefined) throw damagedStore(`a reducer ${reducer}`);
  return { id, role, weight, reducer: reduction };
}

function readEpoch({ text }: StoredResult): StoredEpoch {
  return readText(text, storedEpoch);
}

function readText<T>(text: string, shape: Shape<T>): T {
  return readShape(shape, parse(text), (path) => {
    const where = path === '' ? '' : ` (at ${path})`;
    return damagedStore(`text that is not a record of a run${where}`);
  });
}

function parse(text: string): unknown {
  try {
    return parseLossless(text);
  } catch (cause) {
    throw damagedStore('text that is not JSON', cause);
  }
}

function damagedStore(what: string, cause?: unknown): RuntimeError {
  return new RuntimeError('STORE_FAILED', `the stored results are damaged: found ${what}`, {
    hint: 'Move evals.db and its -wal and -shm files away, and restore a backup; without one, a new store starts empty.',
    cause,
  });
}
