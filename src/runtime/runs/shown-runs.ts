import { RuntimeError } from '../../base/errors.ts';
import type { RunDetails, RunInfo, ShownStatus, StepDetails, StepsOptions } from '../../contract/run.ts';
import { toRunDetails, toRunInfo } from '../../pipelines/run/document.ts';
import { requireRun } from '../../pipelines/run/new-run.ts';
import { shortenJson } from '../../pipelines/show/shorten-json.ts';
import { toStepDetails } from '../../pipelines/show/step-details.ts';
import { createTotals } from '../../pipelines/show/totals.ts';
import type { RunFilter, RunRecord, StepRecord, Store } from '../../store/store.ts';

export interface ListFilter extends Omit<RunFilter, 'status'> {
  readonly status?: ShownStatus | undefined;
}

/** Milliseconds since 1970. Throws USAGE. */
export function timeOf(name: string, time: Date | undefined): number | undefined {
  if (time === undefined) return undefined;
  const ms = time instanceof Date ? time.getTime() : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw new RuntimeError('USAGE', `\`${name}\` is not a date`);
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

export async function showRun(
  store: Store,
  id: string,
  { maxCharacters }: Pick<StepsOptions, 'maxCharacters'>,
): Promise<RunDetails> {
  const run = await requireRun(store, id);
  const claimed = await claimedAmong(store, [run]);
  const pendings = await store.listPendings({ runId: id, below: true }, Date.now());
  const totals = createTotals(run);
  const { children, below } = await findBelow(store, run);
  for (const each of below) for await (const record of readSteps(store, each.id)) totals.add(record);
  const first: StepRecord[] = [];
  let isCut = false;
  for await (const record of readSteps(store, id)) {
    totals.add(record);
    if (first.length < TIMELINE_STEPS) first.push(record);
    else isCut = true;
  }
  const moments = await store.listHistory(id, 4 * TIMELINE_STEPS);
  const { input, output } = run;
  const shown = {
    ...run,
    input: shortenJson(input, maxCharacters),
    output: output && shortenJson(output, maxCharacters),
  };
  const details = toRunDetails(shown, {
    steps: first,
    pendings,
    moments,
    totals: totals.read(),
    isCut,
    children,
  });
  return withStatus(details, claimed);
}

async function findBelow(store: Store, run: RunRecord) {
  const own = (await store.summarizeRuns({ parent: run.id }, Date.now())).toReversed();
  const isOutermost = run.parent === undefined;
  const below = isOutermost ? await store.summarizeRuns({ root: run.id }, Date.now()) : [...own];
  if (!isOutermost)
    for (const each of below) below.push(...(await store.summarizeRuns({ parent: each.id }, Date.now())));
  const claimed = await claimedAmong(store, own);
  const shown = own.slice(0, MOST_CHILDREN).map((each) => withStatus(toRunInfo(each), claimed));
  const children: Pick<RunDetails, 'children' | 'children_cut'> = {
    ...(own.length > 0 && { children: shown }),
    ...(own.length > MOST_CHILDREN && { children_cut: true }),
  };
  return { children, below };
}

const MOST_CHILDREN = 1_000;

const TIMELINE_STEPS = 2_000;

export async function* showSteps(
  store: Store,
  id: string,
  options: StepsOptions,
): AsyncGenerator<StepDetails> {
  yield* toStepDetails(await requireRun(store, id), readSteps(store, id), options);
}

async function* readSteps(store: Store, id: string): AsyncGenerator<StepRecord> {
  let behind: number | undefined;
  do {
    const page = await store.pageSteps(id, { behind, limit: PAGE_STEPS });
    yield* page.steps;
    behind = page.steps.length < PAGE_STEPS ? undefined : page.place;
  } while (behind !== undefined);
}

const PAGE_STEPS = 500;

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
