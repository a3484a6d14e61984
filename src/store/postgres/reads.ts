import type { RunStatus } from '../../contract/run.ts';
import { fromKeptRecord } from '../sqlite/record-parts.ts';
import { numberOf, textOf } from '../sqlite/row.ts';
import { runFromRow, statusFromRow, summaryFromRow } from '../sqlite/run-table.ts';
import { entryFromRow, stepFromRow } from '../sqlite/step-table.ts';
import { checked } from '../sqlite/text-table.ts';
import type { RunFilter, RunHistoryEntry, RunRecord, RunSummary, StepPage, StepRecord } from '../store.ts';
import { isOfStatus, keptStatus, suspensionColumns } from '../suspension.ts';
import type { Link } from './connection/client.ts';
import { isDue } from './layout/layout.ts';
import { fromKept, toKept, withChecksum } from './rows.ts';

/** Reads a long text of a run. Throws STORE_FAILED. */
export type TextLoader = (runId: string) => (step: string, number: number) => string;

/** The run of that id. Rejects with what Postgres says, and Damaged, as all of these. */
export async function findRun(link: Link, id: string, load: TextLoader): Promise<RunRecord | undefined> {
  const found = await readRuns(link, { text: `${withPipelines} WHERE id = $1`, values: [id] }, load);
  return found[0];
}

export async function findStatus(link: Link, id: string): Promise<RunStatus | undefined> {
  const text = 'SELECT status FROM signalbox.runs WHERE id = $1';
  const [row] = await link.query({ name: 'status', text, values: [toKept(id)] });
  return row && statusFromRow(row);
}

export async function listRuns(
  link: Link,
  { status, limit }: Pick<RunFilter, 'status' | 'limit'>,
  load: TextLoader,
): Promise<RunRecord[]> {
  const text = `${wholeRuns} WHERE ($1::text IS NULL OR status = $1) ORDER BY seq DESC LIMIT $2`;
  const kept = status === undefined ? null : keptStatus(status);
  return await readRuns(link, { text, values: [kept, limit ?? null] }, load);
}

const labelsColumn = `(SELECT json_object_agg(key, value ORDER BY key)::text
  FROM signalbox.run_labels WHERE run = runs.seq) AS labels`;
/** Runs, and as `s` what is kept beside them. */
export const withSuspensions =
  'signalbox.runs AS runs LEFT JOIN signalbox.suspensions AS s ON s.run = runs.seq';
const runColumns = `runs.*, ${suspensionColumns}, ${labelsColumn}, signalbox.kin_of(id) AS kin`;
const wholeRuns = `SELECT ${runColumns} FROM ${withSuspensions}`;
const withPipelines = `SELECT ${runColumns}, (
  SELECT json_object_agg(p.file, p.text)::text FROM signalbox.run_pipelines AS p WHERE p.run_id = runs.id) AS pipelines
  FROM ${withSuspensions}`;

/** Without what may be long in them. */
export async function summarizeRuns(link: Link, filter: RunFilter, hungMs: number): Promise<RunSummary[]> {
  const { where, values } = toConditions(filter, [hungMs]);
  const text = `SELECT seq, id, kind, name, file, status, created_at, updated_at, ${suspensionColumns}, ${labelsColumn},
      signalbox.kin_of(id) AS kin, (SELECT count(*) FROM signalbox.pendings WHERE ruling IS NULL AND (run_id = runs.id
        OR run_id IN (SELECT k.id FROM signalbox.run_parents AS k WHERE k.root = runs.id))) AS open,
      ${isDue} AND NOT EXISTS (SELECT 1 FROM signalbox.workers AS w WHERE runs.build = ANY (w.builds)
        AND w.seen_at > clock_timestamp() - $1::bigint * interval '1 millisecond') AS lacks_worker
    FROM ${withSuspensions} ${where}`;
  const rows = await link.query({ text, values });
  return rows.map((row) => summaryFromRow(fromKept(row)));
}

/** What selects and orders the runs of a list, behind the values that there are already. */
function toConditions(
  { status, name, since, until, after, labels = {}, parent, root, all = false, limit }: RunFilter,
  first: readonly unknown[],
): { readonly where: string; readonly values: readonly unknown[] } {
  const values = [...first];
  const put = (value: unknown) => `$${values.push(typeof value === 'string' ? toKept(value) : value)}`;
  const conditions = ['true'];
  const require = (value: unknown, condition: (place: string) => string) => {
    if (value !== undefined) conditions.push(condition(put(value)));
  };
  const ofStatus = status && isOfStatus[status];
  if (ofStatus === undefined) require(status, (place) => `status = ${place}`);
  else conditions.push(ofStatus);
  require(name, (place) => `name = ${place}`);
  require(since, (place) => `created_at >= ${place}`);
  require(until, (place) => `created_at < ${place}`);
  require(after, (place) => `seq < ${place}`);
  for (const [key, value] of Object.entries(labels)) {
    conditions.push(`EXISTS (SELECT 1 FROM signalbox.run_labels AS l
      WHERE l.run = runs.seq AND l.key = ${put(key)} AND l.value = ${put(value)})`);
  }
  const below = (column: string) => (place: string) =>
    `id IN (SELECT k.id FROM signalbox.run_parents AS k WHERE k.${column} = ${place})`;
  require(parent, below('parent'));
  require(root, below('root'));
  if (parent === undefined && root === undefined && !all)
    conditions.push('NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = runs.id)');
  const where = `WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ${put(limit ?? null)}`;
  return { where, values };
}

async function readRuns(
  link: Link,
  statement: { readonly text: string; readonly values: readonly unknown[] },
  load: TextLoader,
): Promise<RunRecord[]> {
  const rows = (await link.query(statement)).map(fromKept);
  const ids = rows.filter((row) => row['output'] !== null).map((row) => textOf(row, 'id'));
  const refs = await outputRefs(link, ids);
  return rows.map((row) =>
    runFromRow(row, (runId, kept) => {
      const own = refs.get(runId);
      return own === undefined ? undefined : fromKeptRecord(kept, own, { runId, load: load(runId) });
    }),
  );
}

/** The references of the outputs of these runs. */
async function outputRefs(link: Link, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const text =
    "SELECT run_id, step, refs, sum FROM signalbox.parts WHERE step = '/output' AND run_id = ANY ($1)";
  const rows = await link.query({ text, values: [ids] });
  return new Map(rows.map((row) => [textOf(row, 'run_id'), refsOf(row)]));
}

export async function listSteps(link: Link, runId: string, load: TextLoader): Promise<StepRecord[]> {
  const values = [toKept(runId)];
  const text = 'SELECT * FROM signalbox.steps WHERE run_id = $1 ORDER BY seq';
  const rows = await link.query({ text, values });
  if (rows.length === 0) return [];
  const parts = await link.query({
    text: 'SELECT step, refs, sum FROM signalbox.parts WHERE run_id = $1',
    values,
  });
  const refs = new Map(parts.map((row) => [textOf(fromKept(row), 'step'), refsOf(row)]));
  return rows.map((row) => stepFromRow(fromKept(withChecksum(row, 'outcome')), refs, { load }));
}

/** Up to `limit` steps behind a place in their order. */
export async function pageSteps(
  link: Link,
  runId: string,
  { behind, limit }: { readonly behind?: number | undefined; readonly limit: number },
  load: TextLoader,
): Promise<StepPage> {
  const id = toKept(runId);
  const text = `SELECT s.*, p.refs AS own_refs, p.sum AS refs_sum FROM signalbox.steps AS s
    LEFT JOIN signalbox.parts AS p ON p.run_id = s.run_id AND p.step = s.step
    WHERE s.run_id = $1 AND s.seq > $2 ORDER BY s.seq LIMIT $3`;
  const rows = await link.query({ text, values: [id, behind ?? -1, limit] });
  const steps = rows.map(({ own_refs: refs, refs_sum: sum, ...row }) => {
    const own = typeof refs === 'string' ? refsOf({ step: row['step'], refs, sum }) : undefined;
    return stepFromRow(fromKept(withChecksum(row, 'outcome')), { get: () => own }, { load });
  });
  const last = rows.at(-1);
  return { steps, place: last && numberOf(last, 'seq') };
}

/** The runs of holders whose sessions are there. */
export async function listClaimed(link: Link): Promise<ReadonlySet<string>> {
  const rows = await link.query({ text: claimed });
  return new Set(rows.map((row) => textOf(fromKept(row), 'run_id')));
}

const claimed = `SELECT c.run_id FROM signalbox.claims AS c JOIN signalbox.holders AS h ON h.id = c.holder
  JOIN pg_stat_activity AS a ON a.pid = h.pid AND a.backend_start = h.backend_start`;

function refsOf(row: Readonly<Record<string, unknown>>): string {
  const full = fromKept(withChecksum(row, 'refs'));
  return checked(full, textOf(full, 'step'), 'refs');
}

/** In the order in which it was kept. */
export async function listHistory(link: Link, runId: string, limit?: number): Promise<RunHistoryEntry[]> {
  const text = 'SELECT what, subject FROM signalbox.moments WHERE run_id = $1 ORDER BY seq LIMIT $2';
  return (await link.query({ text, values: [toKept(runId), limit ?? null] })).map((row) =>
    entryFromRow(fromKept(row)),
  );
}
