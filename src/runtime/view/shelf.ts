import PQueue from 'p-queue';
import { RuntimeError } from '../../base/errors.ts';
import { whenAborted } from '../../base/time/async.ts';
import { compareRuns } from '../../suites/compare/compare.ts';
import { type ComparisonDocument, toDocument } from '../../suites/compare/document.ts';
import type { Rating, RatingInput, RatingPlace } from '../../suites/rating/rating.ts';
import type { CaseRecord, RunSource } from '../../suites/record.ts';
import { cutRecord, streamLines } from '../../suites/report/html/html.ts';
import { openRunFile } from '../../suites/report/run-file.ts';
import type { Runtime, SuiteHistoryFilter, SuiteRunEnd, SuiteRunInfo } from '../api.ts';

/** Runs of suites in files and in the stores of runtimes. All methods throw STORE_FAILED, FILE_UNREADABLE. */
export interface Shelf {
  /** Newest first, after the files. */
  page(filter: ShelfFilter): Promise<ShelfPage>;
  /** The lines of the report page, in parts. `by`: the name of the reader, or null if it cannot rate. */
  report(
    id: string,
    options: { readonly by: string | null; readonly hasDetails: boolean },
  ): Promise<AsyncIterable<string>>;
  /** The record, with long texts cut. Throws NAME_UNKNOWN. */
  case(id: string, place: CasePlace): Promise<CaseRecord>;
  compare(a: string, b: string): Promise<ComparisonDocument>;
  /** The runs of a suite, newest first. */
  history(filter: SuiteHistoryFilter): Promise<readonly SuiteRunEnd[]>;
  rate(id: string, rating: RatingInput): Promise<Rating>;
  unrate(id: string, place: RatingPlace): Promise<void>;
  /** Like `watch` of a runtime, for all of them. */
  watch: Runtime['watch'];
}

export interface ShelfFilter {
  readonly suite?: string | undefined;
  readonly limit: number;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

export interface ShelfPage {
  readonly runs: readonly SuiteRunInfo[];
  readonly next?: string;
}

interface CasePlace {
  readonly case: string;
  /** The number of the row, if several have the ID. */
  readonly number?: number | undefined;
  readonly variant?: string | undefined;
}

export interface ShelfOptions {
  readonly runtimes: readonly Runtime[];
  readonly files: readonly string[];
}

export function idOfFile(index: number): string {
  return `file-${index + 1}`;
}

export function openShelf({ runtimes, files }: ShelfOptions): Shelf {
  const byId = new Map(files.map((file, index) => [idOfFile(index), file]));
  // One at a time, because each holds all cases of one side in memory.
  const comparing = new PQueue({ concurrency: 1 });
  return {
    async page({ suite, limit, after }) {
      // The ID after which each store continues; empty for its start.
      const cursors = after?.split(',') ?? [];
      const given = after === undefined ? await listFiles(byId, suite) : [];
      const lists = await Promise.all(
        runtimes.map(async ({ evals }, store) => {
          const found = await evals.runs.list({
            limit: limit + 1,
            suite,
            after: cursors[store] || undefined,
          });
          return found.map((run) => ({ store, run }));
        }),
      );
      const all =
        lists.length === 1
          ? (lists[0] ?? [])
          : lists.flat().toSorted((one, other) => byStart(one.run, other.run));
      const shown = all.slice(0, limit);
      const next = runtimes.map((_, store) => lastOf(shown, store) ?? cursors[store] ?? '').join(',');
      const runs = [...given, ...shown.map(({ run }) => run)];
      return all.length > limit ? { runs, next } : { runs };
    },
    async report(id, { by, hasDetails }) {
      const { source, runs } = await open(id);
      return streamLines(source, { by: runs === undefined ? null : by, hasDetails });
    },
    async case(id, { case: caseId, number, variant }) {
      const { source } = await open(id);
      for await (const record of source.cases(caseId)) {
        if ((number ?? record.number) !== record.number || record.variant !== variant) continue;
        const cut = cutRecord(record);
        if (cut !== undefined) return cut.record;
      }
      throw new RuntimeError('NAME_UNKNOWN', 'the run has no such case, or the case is too large to show', {
        hint: '`signalbox eval show RUN --case ID` shows all of it.',
      });
    },
    async compare(a, b) {
      const [one, other] = [await open(a), await open(b)];
      return await comparing.add(async () => toDocument(await compareRuns(one.source, other.source, {})));
    },
    async history(filter) {
      const lists = await Promise.all(runtimes.map(async ({ evals }) => await evals.history(filter)));
      return lists
        .flat()
        .toSorted(byStart)
        .slice(0, filter.limit ?? 100);
    },
    async *watch(kinds, options = {}) {
      if (runtimes.length === 0) {
        yield { kinds };
        const { promise, resolve } = Promise.withResolvers<void>();
        if (options.signal !== undefined) whenAborted(options.signal, resolve);
        return await promise;
      }
      const streams = runtimes.map((runtime) => runtime.watch(kinds, options)[Symbol.asyncIterator]());
      const nextOf = async (stream: (typeof streams)[number]) => ({ stream, result: await stream.next() });
      const waiting = new Map(streams.map((stream) => [stream, nextOf(stream)]));
      while (waiting.size > 0) {
        const { stream, result } = await Promise.race(waiting.values());
        if (result.done === true) waiting.delete(stream);
        else {
          waiting.set(stream, nextOf(stream));
          yield result.value;
        }
      }
    },
    rate: async (id, rating) => await (await openRated(id)).rate(id, rating),
    unrate: async (id, place) => await (await openRated(id)).unrate(id, place),
  };

  /** Throws RUN_UNKNOWN, and USAGE for an ID in several stores. */
  async function open(id: string): Promise<ShelvedRun> {
    const file = byId.get(id);
    if (file !== undefined) return { source: await openRunFile(file), runs: undefined };
    const found = (await Promise.all(runtimes.map((runtime) => openKept(runtime, id)))).flat();
    const [only, other] = found;
    if (only === undefined)
      throw new RuntimeError('RUN_UNKNOWN', `there is no run "${id}"`, { hint: removed });
    if (other === undefined) return only;
    const hint = 'Stop this command, and start it with --config FILE for one of them.';
    throw new RuntimeError('USAGE', `several state stores have the run "${id}"`, { hint });
  }

  async function openRated(id: string) {
    const { runs } = await open(id);
    if (runs !== undefined) return runs;
    throw new RuntimeError('USAGE', 'a run of a file cannot have ratings: only runs in a store can');
  }
}

interface ShelvedRun {
  readonly source: RunSource;
  readonly runs: Runtime['evals']['runs'] | undefined;
}

const removed = 'It may have been removed meanwhile; the list shows the existing runs.';

interface Listed {
  readonly store: number;
  readonly run: SuiteRunInfo;
}

interface Started {
  readonly started_at: string;
}

function byStart(one: Started, other: Started): number {
  return other.started_at.localeCompare(one.started_at);
}

function lastOf(shown: readonly Listed[], store: number): string | undefined {
  return shown.findLast((each) => each.store === store)?.run.id;
}

async function listFiles(
  files: ReadonlyMap<string, string>,
  suite: string | undefined,
): Promise<SuiteRunInfo[]> {
  const listed: SuiteRunInfo[] = [];
  for (const [id, file] of files) {
    const run = await listFile(id, file);
    if (suite === undefined || run.suite === suite) listed.push(run);
  }
  return listed;
}

async function listFile(id: string, file: string): Promise<SuiteRunInfo> {
  try {
    const { header, report } = await openRunFile(file);
    const { suite, started_at, kind = 'suite' } = header;
    const [cases, rate] = [report?.cases ?? 0, report?.overall.pass_rate ?? null];
    return { id, kind, suite, started_at, status: report?.status ?? 'interrupted', cases, pass_rate: rate };
  } catch {
    return { id, kind: 'suite', suite: file, started_at: '', status: 'error', cases: 0, pass_rate: null };
  }
}

async function openKept({ evals: { runs } }: Runtime, id: string): Promise<ShelvedRun[]> {
  try {
    return [{ source: await runs.open(id), runs }];
  } catch (thrown) {
    if (thrown instanceof RuntimeError && thrown.code === 'RUN_UNKNOWN') return [];
    throw thrown;
  }
}
