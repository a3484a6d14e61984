import { randomUUID } from 'node:crypto';
import { callFromRow, decisionToRow, kinToText, labelsToText, runToRow } from '../../rows.ts';
import type {
  Announce,
  Job,
  SeenWorker,
  SharedWork,
  Swept,
  Transaction,
  WorkerRecord,
} from '../../shared-work.ts';
import { decodeRow, encodeOrNull, encodeText, numberOf, readAnswer, textOf } from '../../sqlite/row.ts';
import type { NewRun, Store } from '../../store.ts';
import { checkRunId, duplicateRunError } from '../../store-rules.ts';
import { isDue } from '../../tables.ts';
import { toCall, toStatement } from '../change-call.ts';
import type { Address } from '../connection/address.ts';
import type { Link } from '../connection/client.ts';
import type { Run } from '../driver.ts';
import { inTransaction } from './transaction.ts';

interface WorkParts {
  readonly address: Address;
  readonly hungMs: number;
  readonly run: Run;
}

interface WorkMethods extends Pick<Store, 'decide'> {
  readonly work: SharedWork;
  createQueued(run: NewRun): Promise<void>;
}

export function workMethods({ address, hungMs, run }: WorkParts): WorkMethods {
  let announce: Announce = async () => false;
  const transact = async <Result>(
    work: (transaction: Transaction, link: Link) => Promise<Result>,
  ): Promise<Result> => {
    const { result, finish } = await run((link) => inTransaction(link, (made) => work(made, link)));
    finish();
    return result;
  };
  const announceDue = async (transaction: Transaction, runId: string) => {
    const [row] = await transaction.query({ text: findDue, values: [encodeText(runId)] });
    if (row === undefined) return;
    await announceAll(transaction, announce, [{ kind: 'run', id: runId, queue: textOf(row, 'build') }]);
  };
  return {
    work: {
      transact,
      announceBy: (given) => {
        announce = given;
      },
      adopt: async (runIds, transaction) => {
        const statement = { ...adopt, values: [runIds.map(encodeText)] };
        const rows = await (transaction?.query(statement) ?? run((link) => link.query(statement)));
        return rows.map((row) => textOf(row, 'id'));
      },
      giveBack: (runId) => transact((transaction) => announceDue(transaction, runId)),
      sweep: async () => {
        const [due] = await run((link) => link.query(isSweepDue));
        if (due === undefined) return { hasRun: false, announced: 0 };
        return await transact((transaction) => sweep(transaction, { announce, hungMs }));
      },
      beat: (worker) => run((link) => beat(link, worker)),
      leave: (id) => run((link) => leave(link, id)),
      listWorkers: () => run((link) => listSeen(link, hungMs)),
    },
    decide: (id, ruling, at, others) => {
      const token = randomUUID();
      return transact(async (transaction, link) => {
        // The database function first expires due calls.
        const row = decisionToRow(ruling);
        const words = [row.ruling, row.ruled_by, row.ruling_reason, row.edited_args, row.result].map(
          encodeOrNull,
        );
        if (others !== undefined && !(await hasApprovals(link, { id, by: row.ruled_by ?? '', others, at }))) {
          const [kept] = await link.query({ text: findCall, values: [encodeText(id)] });
          return kept && { isAccepted: false, record: callFromRow(decodeRow(kept)) };
        }
        const text = 'SELECT signalbox.decide($1, $2, $3, $4, $5, $6, $7, $8) AS answer';
        const values = [encodeText(id), at, token, ...words];
        const [found] = await link.query({ name: 'decide', text, values });
        if (found?.['answer'] === null) return undefined;
        const { accepted, record: kept } = readAnswer(found?.['answer']);
        const record = callFromRow(decodeRow({ ...Object(kept) }));
        if (accepted === true) await announceDue(transaction, record.parent?.root ?? record.runId);
        return { isAccepted: accepted === true, record };
      });
    },
    createQueued: async (queued) => {
      checkRunId(queued.id);
      const { build } = queued;
      const token = randomUUID();
      const change = {
        ...({ what: 'create_run', runId: queued.id, run: runToRow(queued) } as const),
        ...{ build: build ?? null, isDispatched: true },
        ...{ labels: labelsToText(queued.labels), kin: kinToText(queued) },
      };
      const isNew = await transact(async (transaction, link) => {
        const [row] = await link.query(toStatement([toCall(change, { epoch: null, pid: link.pid, token })]));
        const made = numberOf(readAnswer(row?.['a0']), 'is_new') === 1;
        if (made) await announceDue(transaction, queued.id);
        return made;
      });
      if (!isNew) throw duplicateRunError(queued.id, address.location);
    },
  };
}

/** Locks as `signalbox.decide` does, so that nobody approves in between. */
async function hasApprovals(
  link: Link,
  {
    id,
    by,
    others,
    at,
  }: { readonly id: string; readonly by: string; readonly others: number; readonly at: number },
): Promise<boolean> {
  const call = encodeText(id);
  await link.query({ text: 'SELECT signalbox.expire_due($1)', values: [at] });
  await link.query({ text: lockRun, values: [call] });
  const text = 'SELECT count(*) AS given FROM signalbox.consents WHERE pending_id = $1 AND name <> $2';
  const [row = {}] = await link.query({ text, values: [call, encodeText(by)] });
  return numberOf(row, 'given') === others;
}

const lockRun = `SELECT 1 FROM signalbox.runs
  WHERE id = (SELECT signalbox.root_of(run_id) FROM signalbox.pendings WHERE id = $1) FOR NO KEY UPDATE`;
const findCall = `SELECT p.*, signalbox.consents_of(p.id) AS consents, signalbox.kin_of(p.run_id) AS kin
  FROM signalbox.pendings AS p WHERE p.id = $1`;

const findDue = `SELECT build FROM signalbox.runs
  WHERE id = $1 AND build IS NOT NULL AND (ready OR (dispatched AND status IN ('queued', 'running')))`;

const adopt = {
  text: `UPDATE signalbox.runs SET dispatched = true, announced_at = NULL
    WHERE id = ANY ($1) AND (ready OR (dispatched AND status IN ('queued', 'running'))) RETURNING id`,
};

interface SweepOptions {
  readonly announce: Announce;
  /** The silence after which a holder's session is ended and a worker counts as dead, in ms. */
  readonly hungMs: number;
}

/**
 * One machine at a time, once a second: expires due calls by the clock of the database and ends sessions of silent
 * holders. Announces waiting runs without a holder for which a worker exists. Bounded; the next sweep does the rest.
 */
async function sweep(transaction: Transaction, { announce, hungMs }: SweepOptions): Promise<Swept> {
  const [mine] = await transaction.query({ text: take });
  if (mine === undefined) return nothing;
  await transaction.query({ text: expire });
  await transaction.query({ text: wake });
  await transaction.query({ text: 'SELECT signalbox.end_hung(NULL, $1)', values: [hungMs] });
  const rows = await transaction.query({ text: due, values: [hungMs, MOST_RUNS, AGAIN_AFTER_MS] });
  const jobs = rows.map((row): Job => {
    return { kind: 'run', id: textOf(row, 'id'), queue: textOf(row, 'build') };
  });
  return { hasRun: true, announced: await announceAll(transaction, announce, jobs) };
}

async function announceAll(
  transaction: Transaction,
  announce: Announce,
  jobs: readonly Job[],
): Promise<number> {
  if (jobs.length === 0 || !(await announce(jobs, transaction))) return 0;
  const [row] = await transaction.query({ text: note, values: [jobs.map(({ id }) => id)] });
  return numberOf(row ?? {}, 'count');
}

const nothing: Swept = { hasRun: false, announced: 0 };

/** Checked without a transaction, because most workers find that no sweep is due. */
const isSweepDue = { name: 'sweep', text: `SELECT 1 FROM signalbox.sweeps WHERE ${isOld('800 ms')}` };

function isOld(age: string): string {
  return `swept_at < clock_timestamp() - interval '${age}'`;
}

const take = `UPDATE signalbox.sweeps SET swept_at = clock_timestamp()
  WHERE (SELECT true FROM signalbox.sweeps WHERE ${isOld('800 ms')} FOR UPDATE SKIP LOCKED) RETURNING 1`;
const MOST_RUNS = 1_000;
/** A lost job is announced again after this time. */
const AGAIN_AFTER_MS = 60_000;

/** Constant within a transaction; a volatile time would prevent the use of an index. */
const now = '(extract(epoch FROM now()) * 1000)::bigint';

const expire = `UPDATE signalbox.pendings SET ruling = 'expired', decided_at = expires_at WHERE id IN (
  SELECT id FROM signalbox.pendings WHERE ruling IS NULL AND expires_at <= ${now}
    ORDER BY expires_at LIMIT ${MOST_RUNS} FOR UPDATE SKIP LOCKED)`;

const wake = `UPDATE signalbox.runs SET ready = true, announced_at = NULL WHERE seq IN (
  SELECT s.run FROM signalbox.suspensions AS s JOIN signalbox.runs AS r ON r.seq = s.run
    WHERE s.due_at <= ${now} AND r.status = 'pending' AND NOT r.ready AND r.build IS NOT NULL
    ORDER BY s.due_at LIMIT ${MOST_RUNS} FOR UPDATE OF r SKIP LOCKED)`;

/** By the builds of workers: runs of other builds are not read. */
const due = `
WITH live AS (
  SELECT c.run_id FROM signalbox.claims AS c JOIN signalbox.holders AS h ON h.id = c.holder
    JOIN pg_stat_activity AS a ON a.pid = h.pid AND a.backend_start = h.backend_start
), builds AS (
  SELECT DISTINCT unnest(builds) AS build FROM signalbox.workers
    WHERE NOT draining AND seen_at > clock_timestamp() - $1::bigint * interval '1 millisecond'
)
SELECT found.id, found.build FROM builds CROSS JOIN LATERAL (
  (SELECT id, build FROM signalbox.runs WHERE build = builds.build AND ${isDue} AND announced_at IS NULL
    AND id NOT IN (SELECT run_id FROM live) ORDER BY seq LIMIT $2)
  UNION ALL
  (SELECT id, build FROM signalbox.runs WHERE build = builds.build AND ${isDue}
    AND announced_at < now() - $3::bigint * interval '1 millisecond'
    AND id NOT IN (SELECT run_id FROM live) ORDER BY announced_at LIMIT $2)
) AS found LIMIT $2`;

const note = `WITH noted AS (
  UPDATE signalbox.runs SET announced_at = clock_timestamp() WHERE id = ANY ($1) RETURNING 1)
SELECT count(*) AS count FROM noted`;

/** A heartbeat. These functions reject with the error of Postgres. */
async function beat(link: Link, worker: WorkerRecord): Promise<void> {
  const { id, machine, pid, version, concurrency, busy, builds, isDraining } = worker;
  await link.query({
    name: 'worker',
    text: `INSERT INTO signalbox.workers (id, machine, pid, version, concurrency, busy, builds, draining, seen_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET busy = excluded.busy, draining = excluded.draining, seen_at = excluded.seen_at`,
    values: [id, encodeText(machine), pid, version, concurrency, busy, builds, isDraining],
  });
}

/** Also removes workers that were silent for an hour. */
async function leave(link: Link, id: string): Promise<void> {
  const text =
    "DELETE FROM signalbox.workers WHERE id = $1 OR seen_at < clock_timestamp() - interval '1 hour'";
  await link.query({ text, values: [id] });
}

async function listSeen(link: Link, hungMs: number): Promise<SeenWorker[]> {
  const rows = await link.query({
    text: `SELECT id, machine, pid, version, concurrency, busy, draining, array_to_string(builds, ' ') AS builds,
        (extract(epoch FROM started_at) * 1000)::bigint AS started_at,
        (extract(epoch FROM seen_at) * 1000)::bigint AS seen_at,
        seen_at > clock_timestamp() - $1::bigint * interval '1 millisecond' AS is_live
      FROM signalbox.workers WHERE seen_at > clock_timestamp() - interval '1 hour' ORDER BY started_at, id`,
    values: [hungMs],
  });
  return rows.map(decodeRow).map((row) => ({
    id: textOf(row, 'id'),
    machine: textOf(row, 'machine'),
    pid: numberOf(row, 'pid'),
    version: textOf(row, 'version'),
    concurrency: numberOf(row, 'concurrency'),
    busy: numberOf(row, 'busy'),
    builds: textOf(row, 'builds').split(' '),
    isDraining: row['draining'] === true,
    startedAt: numberOf(row, 'started_at'),
    seenAt: numberOf(row, 'seen_at'),
    isLive: row['is_live'] === true,
  }));
}
