import type {
  RunDetails,
  RunInfo,
  RunSummary,
  ShownStatus,
  StepDetails,
  StepPage,
  StepsOptions,
} from '../../contract/run.ts';
import {
  type KeyedTimelineEntry,
  toRunDetails,
  toRunInfo,
  toRunSummary,
  toStepEntries,
} from '../../pipelines/run/document.ts';
import { requireRun } from '../../pipelines/run/new-run.ts';
import { shortenJson } from '../../pipelines/show/shorten-json.ts';
import { readStepPage, toStepDetails } from '../../pipelines/show/step-details.ts';
import { createTotals } from '../../pipelines/show/totals.ts';
import type { RunFilter, RunRecord, Store } from '../../store/store.ts';
import type { StepPageOptions } from '../api-options.ts';
import { readCursor, readPageSize, requireTexts, toCursor } from '../cursor.ts';

export interface ListFilter extends Omit<RunFilter, 'status'> {
  readonly status?: ShownStatus | undefined;
}

/** Lists runs, newest first. A running run whose process is gone has the status `cut_off`. */
export async function listRuns(store: Store, filter: ListFilter): Promise<RunInfo[]> {
  return (await findRuns(store, filter)).map(({ info }) => info);
}

export async function findRuns(
  store: Store,
  { status, ...filter }: ListFilter,
): Promise<{ readonly info: RunInfo; readonly place: number }[]> {
  const stored = status === 'cut_off' ? 'running' : status;
  const isEither = stored === 'running';
  // The store does not distinguish running and cut-off runs, so the limit applies later.
  const wanted = isEither ? { ...filter, status: stored, limit: undefined } : { ...filter, status: stored };
  const found = await store.summarizeRuns(wanted, Date.now());
  const claimed = await claimedAmong(store, found);
  const runs = found.map((run) => ({ info: withStatus(toRunInfo(run), claimed), place: run.place }));
  return isEither ? runs.filter(({ info }) => info.status === status).slice(0, filter.limit) : runs;
}

/** Reads no step. Waiting calls are at most the first thousand; runs that its steps started are not included. */
export async function summarizeRun(store: Store, id: string, options: TextOptions): Promise<RunSummary> {
  const run = await requireRun(store, id);
  const claimed = await claimedAmong(store, [run]);
  const ofRun = { run: id, status: 'open' } as const;
  const found = await store.pagePendings({ ...ofRun, limit: MOST_CHILDREN }, Date.now());
  const isAll = found.length < MOST_CHILDREN;
  const counts = isAll ? [] : await store.countPendings(ofRun, Date.now());
  const open = isAll
    ? found.length
    : counts.reduce((sum, each) => sum + (each.status === 'open' ? each.count : 0), 0);
  const pendings = found.map(({ record }) => record);
  return withStatus(toRunSummary(toShown(run, options), pendings, open), claimed);
}

export async function showRun(store: Store, id: string, options: TextOptions): Promise<RunDetails> {
  const run = await requireRun(store, id);
  const claimed = await claimedAmong(store, [run]);
  const pendings = await store.listPendings({ runId: id, below: true }, Date.now());
  const totals = createTotals(run);
  const { children, below } = await findBelow(store, run);
  for await (const record of store.readSteps(below.map((each) => each.id))) totals.add(record);
  const entries: KeyedTimelineEntry[] = [];
  let count = 0;
  for await (const record of store.readSteps([id])) {
    totals.add(record);
    count += 1;
    // A record may be long, and its entries are short.
    if (count <= TIMELINE_STEPS) entries.push(...toStepEntries(run, record));
  }
  const moments = await store.listHistory(id, 4 * TIMELINE_STEPS);
  const details = toRunDetails(toShown(run, options), {
    entries,
    pendings,
    moments,
    totals: totals.read(),
    isCut: count > TIMELINE_STEPS,
    children,
  });
  return withStatus(details, claimed);
}

type TextOptions = Pick<StepsOptions, 'maxCharacters'>;

function toShown(run: RunRecord, { maxCharacters }: TextOptions): RunRecord {
  const { input, output } = run;
  return {
    ...run,
    input: shortenJson(input, maxCharacters),
    output: output && shortenJson(output, maxCharacters),
  };
}

async function findBelow(store: Store, run: RunRecord) {
  const children = Map.groupBy(
    await store.summarizeRuns({ root: run.parent?.root ?? run.id }, Date.now()),
    ({ parent }) => parent?.id,
  );
  const own = (children.get(run.id) ?? []).toReversed();
  const below = [...own];
  for (const each of below) below.push(...(children.get(each.id) ?? []));
  const claimed = await claimedAmong(store, own);
  const shown = own.slice(0, MOST_CHILDREN).map((each) => withStatus(toRunInfo(each), claimed));
  const listed: Pick<RunDetails, 'children' | 'children_cut'> = {
    ...(own.length > 0 && { children: shown }),
    ...(own.length > MOST_CHILDREN && { children_cut: true }),
  };
  return { children: listed, below };
}

const MOST_CHILDREN = 1_000;

const TIMELINE_STEPS = 2_000;

export async function* showSteps(
  store: Store,
  id: string,
  options: StepsOptions,
): AsyncGenerator<StepDetails> {
  yield* toStepDetails(await requireRun(store, id), store.readSteps([id]), options);
}

/** Throws USAGE. */
export async function pageSteps(
  store: Store,
  id: string,
  { limit, after, ...options }: StepPageOptions,
): Promise<StepPage> {
  // The places of all runs are numbered together, so that a place of another run would end the pages early.
  const kind = `step of ${id}`;
  const wanted = { ...options, limit: readPageSize(limit), behind: readCursor(kind, after) };
  requireTexts({ step: options.step });
  const { place, ...page } = await readStepPage(store, await requireRun(store, id), wanted);
  return { ...page, ...(place !== undefined && { next: toCursor(kind, place) }) };
}

/** Only the claim shows whether a running run is executed. */
async function claimedAmong(
  store: Store,
  runs: readonly Pick<RunRecord, 'status'>[],
): Promise<ReadonlySet<string>> {
  return runs.some(({ status }) => status === 'running') ? await store.listClaimed() : new Set();
}

function withStatus<Info extends RunInfo>(info: Info, claimed: ReadonlySet<string>): Info {
  // The holder of a run also executes the runs of its steps.
  if (info.status !== 'running' || claimed.has(info.parent?.root_run_id ?? info.run_id)) return info;
  Reflect.set(info, 'status', 'cut_off');
  return info;
}
