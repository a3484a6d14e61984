import { RuntimeError } from '../../base/errors.ts';
import type { RunSource } from '../../suites/record.ts';
import type { ListedRun, RunsPage } from '../../suites/report/html/runs-page.ts';
import { openRunFile } from '../../suites/report/run-file.ts';
import type { Runtime } from '../api.ts';

export interface Shelf {
  /**
   * One page of the list. `cursors` has the ID after which each store continues, or an empty text for its start. Throws
   * STORE_FAILED.
   */
  page(suite: string | undefined, cursors: readonly string[]): Promise<RunsPage>;
  /** Throws RUN_UNKNOWN, USAGE for an ID in several stores, FILE_UNREADABLE, STORE_FAILED. */
  open(id: string): Promise<ShelvedRun>;
}

export interface ShelvedRun {
  readonly source: RunSource;
  readonly runs: Runtime['evals']['runs'] | undefined;
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
  return {
    async page(suite, cursors) {
      const isFirst = cursors.every((cursor) => cursor === '');
      const given = isFirst ? await listFiles(byId, suite) : [];
      const lists = await Promise.all(
        runtimes.map(async ({ evals }, store) => {
          const after = cursors[store] || undefined;
          const found = await evals.runs.list({ limit: PAGE + 1, suite, after });
          return found.map((run) => ({ store, run }));
        }),
      );
      const all = lists.length === 1 ? (lists[0] ?? []) : lists.flat().toSorted(newerFirst);
      const shown = all.slice(0, PAGE);
      const next = runtimes.map((_, store) => lastOf(shown, store) ?? cursors[store] ?? '');
      const older = all.length > PAGE ? queryOf(suite, next) : undefined;
      return { runs: [...given, ...shown.map(({ run }) => run)], suite, older, isFirst };
    },
    async open(id) {
      const file = byId.get(id);
      if (file !== undefined) return { source: await openRunFile(file), runs: undefined };
      const found = (await Promise.all(runtimes.map((runtime) => openKept(runtime, id)))).flat();
      const [only, other] = found;
      if (only === undefined)
        throw new RuntimeError('RUN_UNKNOWN', `there is no run "${id}"`, { hint: removed });
      if (other === undefined) return only;
      const hint = 'Stop this command, and start it with --config FILE for one of them.';
      throw new RuntimeError('USAGE', `several state stores have the run "${id}"`, { hint });
    },
  };
}

const PAGE = 50;

const removed = 'It may have been removed meanwhile; the list shows the existing runs.';

interface Listed {
  readonly store: number;
  readonly run: ListedRun;
}

function newerFirst(one: Listed, other: Listed): number {
  return other.run.started_at.localeCompare(one.run.started_at);
}

function lastOf(shown: readonly Listed[], store: number): string | undefined {
  return shown.findLast((each) => each.store === store)?.run.id;
}

function queryOf(suite: string | undefined, cursors: readonly string[]): string {
  const query = new URLSearchParams(suite === undefined ? [] : [['suite', suite]]);
  for (const cursor of cursors) query.append('after', cursor);
  return query.toString();
}

async function listFiles(
  files: ReadonlyMap<string, string>,
  suite: string | undefined,
): Promise<ListedRun[]> {
  const listed: ListedRun[] = [];
  for (const [id, file] of files) {
    const run = await listFile(id, file);
    if (suite === undefined || run.suite === suite) listed.push(run);
  }
  return listed;
}

async function listFile(id: string, file: string): Promise<ListedRun> {
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
