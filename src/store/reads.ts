import { setImmediate as nextTurn } from 'node:timers/promises';
import { LongJson, PartedJson } from '../base/json/parted.ts';
import { all, type Driver, each, get, maybe, type Query, type Work } from './driver.ts';
import { type Notice, noticeEvents, type Outbox } from './outbox.ts';
import {
  callFromRow,
  countFromRow,
  entryFromRow,
  OUTPUT,
  placedCallFromRow,
  refsFromRow,
  runFromRow,
  statusFromRow,
  stepFromRow,
  summaryFromRow,
  type TextLoader,
} from './rows.ts';
import { fromKeptRecord } from './sqlite/record-parts.ts';
import { enumOf, numberOf, numberOrNull, type Row, textOf, textOrNull } from './sqlite/row.ts';
import type { PendingPageFilter, PlacedStep, RunFilter, RunRecord, Store } from './store.ts';
import { AGENT_SOURCE } from './store-rules.ts';
import { isOfStatus, keptStatus, suspensionColumns } from './suspension.ts';
import { isDue } from './tables.ts';

type ReadMethod =
  | 'findRun'
  | 'findRunStatus'
  | 'listRuns'
  | 'summarizeRuns'
  | 'listExpired'
  | 'listDue'
  | 'listSteps'
  | 'pageSteps'
  | 'listStepsBelow'
  | 'listStepNames'
  | 'readSteps'
  | 'listHistory'
  | 'findPending'
  | 'listPendings'
  | 'pagePendings'
  | 'countPendings'
  | 'measurePendings';

export interface ReadOptions {
  readonly load: TextLoader;
  /** The silence after which a worker counts as dead, in ms. */
  readonly hungMs?: number;
}

export function readMethods(driver: Driver, { load, hungMs = 0 }: ReadOptions): Pick<Store, ReadMethod> {
  const { isShared } = driver;
  const readRuns = function* (
    sql: string,
    values: Readonly<Record<string, string | number>>,
  ): Work<RunRecord[]> {
    const rows = yield* all(sql, values);
    const ids = rows.filter((row) => row['output'] !== null).map((row) => textOf(row, 'id'));
    const found = ids.length === 0 ? [] : yield* all(outputRefs, { ids });
    const refs = new Map(found.map((row) => [textOf(row, 'run_id'), refsFromRow(row)]));
    return rows.map((row) => {
      const runId = textOf(row, 'id');
      const own = refs.get(runId);
      const kept = textOrNull(row, 'output');
      const isWhole = own === undefined || kept === null;
      return runFromRow(row, isWhole ? undefined : fromKeptRecord(kept, own, { runId, load: load(runId) }));
    });
  };
  /** Writes expiries only if some are due, so that plain reads take no lock. */
  const afterExpiry = async <Result>(at: number, work: () => Work<Result>): Promise<Result> => {
    const seen = await driver.read(function* () {
      if ((yield* get(anyDue, { at }, 'any_due')) !== undefined) return undefined;
      return { result: yield* work() };
    });
    if (seen !== undefined) return seen.result;
    return await driver.transact(function* () {
      yield* all(expire, { at });
      return yield* work();
    });
  };
  return {
    findRun: async (id) => {
      const sql = `SELECT ${runColumns}, signalbox.pipelines_of(runs.id) AS pipelines ${fromRuns} WHERE runs.id = :id`;
      return (await driver.read(() => readRuns(sql, { id })))[0];
    },
    findRunStatus: (id) => {
      const sql = 'SELECT status FROM signalbox.runs WHERE id = :id';
      return driver.read(() => maybe(get(sql, { id }, 'status'), statusFromRow));
    },
    listRuns: ({ status, limit = Number.MAX_SAFE_INTEGER } = {}) => {
      const where = status === undefined ? '' : 'WHERE runs.status = :status';
      const sql = `SELECT ${runColumns} ${fromRuns} ${where} ORDER BY runs.seq DESC LIMIT :limit`;
      const ofStatus = status === undefined ? {} : { status: keptStatus(status) };
      return driver.read(() => readRuns(sql, { limit, ...ofStatus }));
    },
    summarizeRuns: (filter, at) => {
      const { sql, values } = toSummaryQuery(filter, isShared, hungMs);
      return afterExpiry(at, () => each(all(sql, values), summaryFromRow));
    },
    listExpired: (at) => afterExpiry(at, () => each(all(expired), (row) => textOf(row, 'id'))),
    listDue: ({ at, withFaults = false, id }) =>
      afterExpiry(at, function* () {
        const sql = `SELECT * FROM (${dueRuns} ${id === undefined ? '' : 'AND runs.id = :id'}) AS found
          WHERE due IS NOT NULL ORDER BY seq`;
        const rows = yield* all(sql, { at, faults: withFaults, ...(id !== undefined && { id }) });
        const next = yield* get(nextDue, { at });
        return {
          runs: rows.map((row) => ({
            id: textOf(row, 'id'),
            why: enumOf(row, 'due', ['fault', 'wait', 'decided', 'running']),
          })),
          nextAt: numberOrNull(next ?? { at: null }, 'at') ?? undefined,
        };
      }),

    listSteps: (run) =>
      driver.read(function* () {
        const rows = yield* all('SELECT * FROM signalbox.steps WHERE run_id = :run ORDER BY seq', { run });
        const parts =
          rows.length === 0
            ? []
            : yield* all('SELECT run_id, step, refs, sum FROM signalbox.parts WHERE run_id = :run', { run });
        return toSteps(rows, parts, load).map(({ place: _, ...step }) => step);
      }),
    pageSteps: (run, { behind = -1, limit, part = '' }) =>
      driver.read(function* () {
        // The places are found and sorted without the rows, which may be long.
        const named = part === '' ? '' : "AND replace(step, :part, '') <> step";
        const sql = `SELECT * FROM signalbox.steps WHERE seq IN (
            SELECT seq FROM signalbox.steps WHERE run_id = :run AND seq > :behind ${named} ORDER BY seq LIMIT :limit)
          ORDER BY seq`;
        const rows = yield* all(sql, { run, behind, limit, ...(part !== '' && { part }) });
        return yield* toPlacedSteps(rows, load);
      }),
    listStepsBelow: (run, paths) =>
      driver.read(function* () {
        const rows: Row[] = [];
        // "0" follows the slash.
        for (const path of paths)
          rows.push(
            ...(yield* all(stepsBetween, { run, from: `${path}/`, to: `${path}0` }, 'steps_between')),
          );
        return yield* toPlacedSteps(rows, load);
      }),
    listStepNames: (run) =>
      driver.read(() =>
        each(
          all('SELECT seq, step FROM signalbox.steps WHERE run_id = :run ORDER BY seq', { run }),
          (row) => ({
            ...{ step: textOf(row, 'step'), place: numberOf(row, 'seq') },
          }),
        ),
      ),
    readSteps: async function* (runs) {
      const ends = await driver.read(() => get(stepEnds, { runs }));
      const last = numberOrNull(ends ?? { last: null }, 'last') ?? 0;
      for (let behind = (numberOrNull(ends ?? { first: null }, 'first') ?? 0) - 1; behind < last; ) {
        // The steps of a run are close together. A file is read in table order, without sorting each page.
        const from = `FROM signalbox.steps
          WHERE ${isShared ? '' : '+'}run_id IN :runs AND seq > :behind AND seq <= :last ORDER BY seq LIMIT :limit`;
        const values = { runs, behind, last };
        const page = await driver.read(function* () {
          const sized = `SELECT count(*) AS rows FROM (SELECT sum(size) OVER (ORDER BY seq) AS bytes
              FROM (SELECT seq, octet_length(outcome) AS size ${from}) AS page) AS sized
            WHERE coalesce(bytes, 0) <= :most`;
          const fitting = yield* get(sized, { ...values, limit: MOST_STEPS, most: PAGE_BYTES });
          const limit = Math.max(1, numberOf(fitting ?? {}, 'rows'));
          return yield* toPlacedSteps(yield* all(`SELECT * ${from}`, { ...values, limit }), load);
        });
        for (const step of page) {
          yield step;
          // Weak references to long texts hold them until the turn of the event loop ends.
          if (step.outcome instanceof PartedJson || step.outcome instanceof LongJson) await nextTurn();
        }
        behind = page.at(-1)?.place ?? last;
      }
    },
    listHistory: (run, limit = Number.MAX_SAFE_INTEGER) =>
      driver.read(() => each(all(history, { run, limit }), entryFromRow)),

    findPending: (id, at) => {
      const find = () => maybe(get(`${wholeCalls} WHERE p.id = :id`, { id }, 'pending'), callFromRow);
      return at === undefined ? driver.read(find) : afterExpiry(at, find);
    },
    listPendings: ({ runId, below = false, open }, at) => {
      const ofBelow = below ? 'OR p.run_id IN (SELECT id FROM signalbox.run_parents WHERE root = :run)' : '';
      const conditions = [
        ...(runId === undefined ? [] : [`(p.run_id = :run ${ofBelow})`]),
        ...(open === undefined ? [] : [`p.ruling IS ${open ? '' : 'NOT'} NULL`]),
      ];
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
      const values = runId === undefined ? {} : { run: runId };
      const sql = `${wholeCalls} ${where} ORDER BY p.seq`;
      return afterExpiry(at, () => each(all(sql, values), callFromRow));
    },
    pagePendings: (filter, at) => {
      const { where, values } = toPendingQuery(filter);
      // The places are found and sorted without the rows, which may be long.
      const sql = `${placedCalls} WHERE p.seq IN (
          SELECT p.seq FROM signalbox.pendings AS p ${where} ORDER BY p.seq LIMIT :limit)
        ORDER BY p.seq`;
      return afterExpiry(at, function* () {
        const rows = yield* all(sql, { ...values, limit: filter.limit });
        const runs = new Set(rows.filter(mayBeUsed).map((row) => textOf(row, 'run_id')));
        const moments = runs.size === 0 ? [] : yield* all(continuations, { runs: [...runs] });
        const continued = findContinued(moments);
        return rows.map((row) => placedCallFromRow(row, continued.has(textOf(row, 'id'))));
      });
    },
    countPendings: (filter, at) => {
      const { where, values } = toPendingQuery(filter);
      const sql = `SELECT p.tool, p.ruling, count(*) AS count FROM signalbox.pendings AS p ${where}
        GROUP BY p.tool, p.ruling ORDER BY p.tool, p.ruling`;
      return afterExpiry(at, () => each(all(sql, values), countFromRow));
    },
    measurePendings: async (at) => {
      const row = await driver.read(() => get(openCalls, { at }, 'open_calls'));
      if (row === undefined) return { open: 0, overdue: 0, oldestMs: 0 };
      const overdue = numberOrNull(row, 'overdue') ?? 0;
      const oldestMs = Math.max(0, numberOrNull(row, 'oldest_ms') ?? 0);
      return { open: numberOf(row, 'calls') - overdue, overdue, oldestMs };
    },
  };
}

function mayBeUsed(row: Row): boolean {
  return row['caller'] === null && (row['ruling'] === 'approved' || row['ruling'] === 'responded');
}

/**
 * The calls with whose decisions their runs have continued: a step `PATH/ruling-N` uses the decision about the newest
 * call of the step PATH. The order is that of writing, so that a retry of the run and a clock make no difference.
 */
function findContinued(moments: readonly Row[]): ReadonlySet<string> {
  const newest = new Map<string, string>();
  const continued = new Set<string>();
  for (const row of moments) {
    const subject = textOf(row, 'subject');
    const run = textOf(row, 'run_id');
    const step = textOrNull(row, 'step');
    if (step !== null) newest.set(JSON.stringify([run, step]), subject);
    const [, path] = /^(.*)\/ruling-\d+(?:~\d+)?$/s.exec(subject) ?? [];
    const used = step === null && path !== undefined ? newest.get(JSON.stringify([run, path])) : undefined;
    if (used !== undefined) continued.add(used);
  }
  return continued;
}

function toPendingQuery({
  id,
  status,
  use,
  tool,
  tools,
  run,
  since,
  after,
}: Omit<PendingPageFilter, 'limit'>) {
  const isOpen = status === 'open';
  const below = 'OR p.run_id IN (SELECT id FROM signalbox.run_parents WHERE root = :run)';
  const given = [
    [id, 'p.id = :id', { id }],
    [isOpen || undefined, 'p.ruling IS NULL', {}],
    [isOpen ? undefined : status, 'p.ruling = :status', { status }],
    [use, "p.ruling IN ('approved', 'responded')", {}],
    // A run that has ended otherwise has used the decision, or cannot any more.
    [use === 'not_used' || undefined, mayUse, {}],
    [tool, 'p.tool = :tool', { tool }],
    [tools, 'p.tool IN :tools', { tools }],
    [run, `(p.run_id = :run ${below})`, { run }],
    [since, 'p.created_at >= :since', { since }],
    [after, 'p.seq > :after', { after }],
  ] as const;
  const wanted = given.filter(([value]) => value !== undefined);
  const conditions = wanted.map(([, condition]) => condition);
  return {
    where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`,
    values: Object.assign({}, ...wanted.map(([, , value]) => value)) as Query['values'],
  };
}

function toSteps(rows: readonly Row[], parts: readonly Row[], load: TextLoader): PlacedStep[] {
  // The ID of a run has no slash.
  const placeOf = (row: Row) => `${textOf(row, 'run_id')}/${textOf(row, 'step')}`;
  const refs = new Map(parts.map((row) => [placeOf(row), refsFromRow(row)]));
  return rows.map((row) => ({
    ...stepFromRow(row, refs.get(placeOf(row)), load),
    place: numberOf(row, 'seq'),
  }));
}

function* toPlacedSteps(rows: readonly Row[], load: TextLoader): Work<PlacedStep[]> {
  if (rows.length === 0) return [];
  return toSteps(rows, yield* all(refsAmong, { seqs: rows.map((row) => numberOf(row, 'seq')) }), load);
}

/** A page has at least one row, and otherwise at most as many as are so long together. */
const PAGE_BYTES = 1_000_000;
const MOST_STEPS = 2_000;

const fromRuns = 'FROM signalbox.runs AS runs LEFT JOIN signalbox.suspensions AS s ON s.run = runs.seq';
const aboutRuns = `${suspensionColumns}, signalbox.labels_of(runs.seq) AS labels, signalbox.kin_of(runs.id) AS kin`;
const runColumns = `runs.*, ${aboutRuns}`;
const outputRefs = `SELECT run_id, step, refs, sum FROM signalbox.parts WHERE step = '${OUTPUT}' AND run_id IN :ids`;
const isBelow = 'EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = runs.id)';

const stepsBetween =
  'SELECT * FROM signalbox.steps WHERE run_id = :run AND step > :from AND step < :to ORDER BY seq';
const stepEnds = 'SELECT min(seq) AS first, max(seq) AS last FROM signalbox.steps WHERE run_id IN :runs';
const refsAmong = `SELECT p.run_id, p.step, p.refs, p.sum FROM signalbox.steps AS s
  JOIN signalbox.parts AS p ON p.run_id = s.run_id AND p.step = s.step WHERE s.seq IN :seqs`;
const history = 'SELECT what, subject FROM signalbox.moments WHERE run_id = :run ORDER BY seq LIMIT :limit';

const anyDue =
  'SELECT 1 AS due FROM signalbox.pendings WHERE ruling IS NULL AND expires_at <= signalbox.now_ms(:at) LIMIT 1';
/** Reads only the rows of the index `pendings_open`. */
const openCalls = `SELECT count(*) AS calls,
    CAST(sum(CASE WHEN expires_at <= signalbox.now_ms(:at) THEN 1 ELSE 0 END) AS bigint) AS overdue,
    signalbox.now_ms(:at) - min(CASE WHEN expires_at <= signalbox.now_ms(:at) THEN NULL ELSE created_at END) AS oldest_ms
  FROM signalbox.pendings WHERE ruling IS NULL`;
const expire = `UPDATE signalbox.pendings SET ruling = 'expired', decided_at = expires_at
  WHERE ruling IS NULL AND expires_at <= signalbox.now_ms(:at)`;
const wholeCalls = `SELECT p.*, signalbox.consents_of(p.id) AS consents, signalbox.kin_of(p.run_id) AS kin
  FROM signalbox.pendings AS p`;
const mayUse = `EXISTS (SELECT 1 FROM signalbox.runs AS u WHERE u.id = p.run_id
  AND u.status NOT IN ('completed', 'denied', 'cancelled'))`;
const continuations = `SELECT m.run_id, m.subject, p.step FROM signalbox.moments AS m
  LEFT JOIN signalbox.pendings AS p ON m.what = 'pending' AND p.id = m.subject
  WHERE m.run_id IN :runs AND (m.what = 'pending' OR (m.what IN ('began', 'ended') AND m.subject LIKE '%/ruling-%'))
  ORDER BY m.seq`;
const placedCalls = `SELECT p.*, signalbox.consents_of(p.id) AS consents, signalbox.kin_of(p.run_id) AS kin,
    r.kind AS run_kind, r.name AS run_name, signalbox.labels_of(r.seq) AS labels,
    CASE WHEN r.source = '${AGENT_SOURCE}' THEN r.input END AS caller,
    (SELECT own.status FROM signalbox.runs AS own WHERE own.id = p.run_id) AS own_status,
    (SELECT min(i.principal) FROM signalbox.call_identities AS i WHERE i.run = r.id) AS principal
  FROM signalbox.pendings AS p JOIN signalbox.runs AS r
    ON r.id = coalesce((SELECT k.root FROM signalbox.run_parents AS k WHERE k.id = p.run_id), p.run_id)`;
const expired = `SELECT id FROM signalbox.runs AS runs WHERE status IN ('running', 'pending') AND NOT ${isBelow}
    AND EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = runs.id AND ruling = 'expired')
    AND NOT EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = runs.id AND ruling IS NULL)
  ORDER BY seq`;

const hasCall = (only: string) => `(EXISTS (SELECT 1 FROM signalbox.pendings WHERE run_id = runs.id ${only})
  OR EXISTS (SELECT 1 FROM signalbox.run_parents AS k JOIN signalbox.pendings AS p ON p.run_id = k.id
    WHERE k.root = runs.id ${only}))`;
const dueRuns = `SELECT runs.seq, runs.id, CASE
      WHEN runs.status = 'running' THEN 'running'
      WHEN s.due_at <= signalbox.now_ms(:at) OR (:faults AND s.why = 'fault') THEN s.why
      WHEN (s.why IS NULL OR s.calls = 1) AND ${hasCall('')} AND NOT ${hasCall('AND ruling IS NULL')} THEN 'decided'
    END AS due
  ${fromRuns} WHERE runs.status IN ('running', 'pending') AND NOT ${isBelow} AND runs.source <> '${AGENT_SOURCE}'`;
const nextDue = `SELECT min(at) AS at FROM (
  SELECT min(s.due_at) AS at FROM signalbox.suspensions AS s JOIN signalbox.runs AS runs ON runs.seq = s.run
    WHERE runs.status = 'pending' AND s.due_at > signalbox.now_ms(:at) AND NOT ${isBelow}
  UNION ALL SELECT min(expires_at) FROM signalbox.pendings
    WHERE ruling IS NULL AND expires_at > signalbox.now_ms(:at)) AS times`;

/** Lists runs, newest first, without long columns. Filters of one shape have the same text. */
function toSummaryQuery(filter: RunFilter, isShared: boolean, hungMs: number) {
  const { status, name, since, until, after, labels = {}, parent, root, all: isAll = false } = filter;
  const { limit = Number.MAX_SAFE_INTEGER } = filter;
  const conditions: string[] = ['true'];
  const values: Record<string, string | number> = { limit };
  const require = (column: string, value: string | number | undefined, condition: string) => {
    if (value === undefined) return;
    conditions.push(condition);
    values[column] = value;
  };
  const ofStatus = status && isOfStatus[status];
  if (ofStatus === undefined) require('status', status, 'runs.status = :status');
  else conditions.push(ofStatus);
  require('name', name, 'runs.name = :name');
  require('since', since, 'runs.created_at >= :since');
  require('until', until, 'runs.created_at < :until');
  const isOfOthers = parent !== undefined || root !== undefined;
  const wanted = Object.entries(labels);
  // In a file, the first label drives the query in the order of its runs; the others are looked up.
  const isLed = !isShared && !isOfOthers && wanted.length > 0;
  const seq = isLed ? 'led.run' : 'runs.seq';
  require('after', after, `${seq} < :after`);
  for (const [index, [key, value]] of wanted.entries()) {
    values[`key${index}`] = key;
    values[`value${index}`] = value;
    const isSo = (label: string) => `${label}.key = :key${index} AND ${label}.value = :value${index}`;
    if (isLed && index === 0) conditions.push(isSo('led'));
    else
      conditions.push(
        `EXISTS (SELECT 1 FROM signalbox.run_labels AS l WHERE l.run = runs.seq AND ${isSo('l')})`,
      );
  }
  const below = (column: string) =>
    `runs.id IN (SELECT k.id FROM signalbox.run_parents AS k WHERE k.${column} = :${column})`;
  require('parent', parent, below('parent'));
  require('root', root, below('root'));
  if (!isOfOthers && !isAll) conditions.push(`NOT ${isBelow}`);
  if (isShared) values['hung'] = hungMs;
  // In a file, joins and filters do not read the rows themselves, which may be long.
  const listed = isLed
    ? 'run_labels AS led INDEXED BY runs_labelled CROSS JOIN runs INDEXED BY runs_listed ON runs.seq = led.run'
    : 'runs INDEXED BY runs_listed';
  const from = isShared || isOfOthers ? 'signalbox.runs AS runs' : listed;
  const sql = `SELECT runs.seq, runs.id, kind, name, file, status, created_at, updated_at, ${aboutRuns},
      (SELECT count(*) FROM signalbox.pendings WHERE run_id = runs.id AND ruling IS NULL)
      + CASE WHEN status IN ('running', 'pending') THEN (SELECT count(*) FROM signalbox.run_parents AS k
          JOIN signalbox.pendings AS p ON p.run_id = k.id AND p.ruling IS NULL WHERE k.root = runs.id)
        ELSE 0 END AS open ${isShared ? lacksWorker : ''}
    FROM ${from} LEFT JOIN signalbox.suspensions AS s ON s.run = runs.seq
    WHERE ${conditions.join(' AND ')} ORDER BY ${seq} DESC LIMIT :limit`;
  return { sql, values };
}

const lacksWorker = `, ${isDue} AND NOT EXISTS (SELECT 1 FROM signalbox.workers AS w WHERE runs.build = ANY (w.builds)
  AND w.seen_at > clock_timestamp() - CAST(:hung AS bigint) * interval '1 millisecond') AS lacks_worker`;

export function createOutbox(driver: Driver): Outbox {
  const ofTargets = 'signalbox.notices WHERE target IN :targets';
  const isReady = `${ofTargets} AND due_at <= signalbox.now_ms(:at)`;
  return {
    setRules: async (config, rules) => {
      const keyOf = (event: string, target: string) => `${event} ${target}`;
      const sql = 'SELECT event, target FROM signalbox.notify_rules WHERE config = :config';
      const kept = await driver.read(() => all(sql, { config }));
      const keys = kept.map((row) => keyOf(textOf(row, 'event'), textOf(row, 'target')));
      const wanted = rules.map(({ event, target }) => keyOf(event, target));
      if (keys.toSorted().join('\n') === wanted.toSorted().join('\n')) return;
      await driver.transact(function* () {
        yield* all('DELETE FROM signalbox.notify_rules WHERE config = :config', { config });
        for (const { event, target } of rules) yield* all(addRule, { event, config, target });
      });
    },
    take: async (targets, at, { leaseMs, limit }) => {
      // Avoids a write if nothing is due.
      const isAny = await driver.read(() => get(`SELECT 1 AS due FROM ${isReady} LIMIT 1`, { targets, at }));
      if (isAny === undefined) return [];
      const sql = `UPDATE signalbox.notices SET attempts = attempts + 1, due_at = signalbox.now_ms(:at) + :lease
        WHERE seq IN (SELECT seq FROM ${isReady} ORDER BY due_at, seq LIMIT :limit FOR UPDATE SKIP LOCKED) RETURNING *`;
      const values = { targets, at, lease: leaseMs, limit };
      const taken = await driver.read(() => each(all(sql, values), noticeFromRow));
      return taken.toSorted((one, other) => one.seq - other.seq);
    },
    remove: async (seq) =>
      void (await driver.read(() => all('DELETE FROM signalbox.notices WHERE seq = :seq', { seq }))),
    postpone: async (seq, at, ms) => {
      const sql = 'UPDATE signalbox.notices SET due_at = signalbox.now_ms(:at) + :ms WHERE seq = :seq';
      await driver.read(() => all(sql, { seq, at, ms }));
    },
    nextDue: async (targets, at) => {
      const sql = `SELECT min(due_at) - signalbox.now_ms(:at) AS left_ms FROM ${ofTargets}`;
      const left = numberOrNull(
        (await driver.read(() => get(sql, { targets, at }))) ?? { left_ms: null },
        'left_ms',
      );
      return left === null ? undefined : Math.max(0, left);
    },
  };
}

const addRule = `INSERT INTO signalbox.notify_rules (event, config, target) VALUES (:event, :config, :target)
  ON CONFLICT DO NOTHING`;

function noticeFromRow(row: Row): Notice {
  return {
    seq: numberOf(row, 'seq'),
    runId: textOf(row, 'run_id'),
    target: textOf(row, 'target'),
    event: enumOf(row, 'event', noticeEvents),
    pendingId: textOrNull(row, 'pending_id'),
    madeAt: numberOf(row, 'made_at'),
    attempts: numberOf(row, 'attempts'),
  };
}
