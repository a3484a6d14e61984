import { createHash, randomUUID } from 'node:crypto';
import { all, type Driver, each, get, inPages, maybe } from './driver.ts';
import type {
  RatingPlace,
  Reopening,
  ResultKind,
  ResultRun,
  ResultStore,
  RunEnd,
  StoredResult,
} from './result-store.ts';
import { enumOf, numberOf, type Row, textOf, textOrNull, verifySum } from './sqlite/row.ts';
import { checkRunId, duplicateRunError, missingRunError } from './store-rules.ts';

export type ResultWriter = Pick<ResultStore, 'putAll' | 'append'>;

export function resultMethods(
  driver: Driver,
  writer: ResultWriter,
): Omit<ResultStore, 'location' | 'claimRun' | 'prune' | 'chunks' | 'close'> {
  const { isShared, location } = driver;
  return {
    createRun: async ({ createdAt, ...run }) => {
      checkRunId(run.id);
      const values = { ...run, at: createdAt, ...(isShared && { token: randomUUID() }) };
      const isMade = await driver.read(function* () {
        if ((yield* get(insertRun(isShared), values)) !== undefined) return true;
        // This call created the run, and its answer was lost with the connection.
        return isShared && (yield* get(ownRun, { id: run.id, token: values.token ?? '' })) !== undefined;
      });
      if (!isMade) throw duplicateRunError(run.id, location);
    },
    findRun: (id) =>
      driver.read(() => maybe(get('SELECT * FROM signalbox.result_runs WHERE id = :id', { id }), runFromRow)),
    listRuns: ({ name, kind, limit = Number.MAX_SAFE_INTEGER, after } = {}) => {
      const filter = { ...(name !== undefined && { name }), ...(kind !== undefined && { kind }) };
      const conditions = ['true', ...Object.keys(filter).map((column) => `${column} = :${column}`)];
      if (after !== undefined) conditions.push(`(created_at, seq) < (${placeOf})`);
      // Long rows are read only for listed runs.
      const sql = `SELECT * FROM signalbox.result_runs WHERE seq IN (
          SELECT seq FROM signalbox.result_runs WHERE ${conditions.join(' AND ')} ${newestFirst} LIMIT :limit)
        ${newestFirst}`;
      const values = { ...filter, limit, ...(after !== undefined && { after }) };
      return driver.read(() => each(all(sql, values), runFromRow));
    },
    setRunEnd: async (id, { status, report }) => {
      const row = await driver.read(() => get(setEnd, { id, status, report }));
      if (row === undefined) throw missingRunError(id, location);
    },

    ...writer,
    put: (record) => writer.putAll([record]),
    get: (run, number, epoch) => {
      const sql = `${select} AND number = :number AND epoch = :epoch`;
      return driver.read(() => maybe(get(sql, { run, number, epoch }, 'get_result'), resultFromRow));
    },
    countRecords: async (run) => {
      const sql = `SELECT count(*) AS count FROM signalbox.results WHERE ${ofRun}`;
      return numberOf((await driver.read(() => get(sql, { run }))) ?? {}, 'count');
    },
    records: (run, filter) => {
      const { sql, values } = ofCase(filter);
      const page = `${select} AND (number, epoch) > (:number, :epoch) ${sql} ORDER BY number, epoch LIMIT ${MOST_RECORDS}`;
      const start: Row = { number: 0, epoch: 0 };
      return inPages(
        driver,
        (last = start) => {
          const [number, epoch] = [numberOf(last, 'number'), numberOf(last, 'epoch')];
          return all(page, { run, number, epoch, ...values });
        },
        resultFromRow,
      );
    },

    keepRating: async (run, rating) => {
      const { caseId, eval: id, by, at, text } = rating;
      const values = { run, key: keyOf(rating), case_id: caseId, eval: id, rater: by, at, text };
      if ((await driver.read(() => get(keepRating, values, 'keep_rating'))) === undefined)
        throw missingRunError(run, location);
    },
    removeRating: async (run, place) => {
      const sql = `DELETE FROM signalbox.ratings WHERE ${ofRun} AND key = :key RETURNING key`;
      return (await driver.read(() => get(sql, { run, key: keyOf(place) }))) !== undefined;
    },
    ratings: (run, filter) => {
      const { sql, values } = ofCase(filter);
      const page = `SELECT * FROM signalbox.ratings WHERE ${ofRun} AND key > :after ${sql} ORDER BY key LIMIT 200`;
      return inPages(
        driver,
        (last) => all(page, { run, after: last === undefined ? '' : textOf(last, 'key'), ...values }),
        (row) => ({
          ...{ caseId: textOf(row, 'case_id'), eval: textOf(row, 'eval'), by: textOf(row, 'rater') },
          ...{ at: numberOf(row, 'rated_at'), text: textOf(row, 'text') },
        }),
      );
    },

    reopenRun: async (run, { number, scope, at }, numbers) => {
      const isThere = await driver.transact(function* () {
        // Locks the run in Postgres.
        const found = yield* get(
          'UPDATE signalbox.result_runs SET status = status WHERE id = :run RETURNING seq',
          { run },
        );
        if (found === undefined) return false;
        if ((yield* get(reopen, { run, number, scope, at })) === undefined) return true;
        yield* all(setAside, { run, reopening: number, numbers });
        yield* all(`DELETE FROM signalbox.results WHERE ${ofNumbers}`, { run, numbers });
        // Workers judge missing cases of the chunks and compute each tally again.
        if (isShared) yield* all(judgeAgain, { run });
        yield* all(`UPDATE signalbox.result_runs SET status = 'running', report = NULL WHERE id = :run`, {
          run,
        });
        return true;
      });
      if (!isThere) throw missingRunError(run, location);
    },
    reopenings: (run) => {
      const sql = `SELECT * FROM signalbox.reopenings WHERE ${ofRun} ORDER BY number`;
      return driver.read(() => each(all(sql, { run }), reopeningFromRow));
    },
    replaced: (run, filter) => {
      const { sql, values } = ofCase(filter);
      const page = `SELECT * FROM signalbox.replaced_results
        WHERE ${ofRun} AND (reopening, number, epoch, seq) > (:reopening, :number, :epoch, :seq) ${sql}
        ORDER BY reopening, number, epoch, seq LIMIT ${MOST_RECORDS}`;
      const start: Row = { reopening: -1, number: 0, epoch: 0, seq: 0 };
      return inPages(
        driver,
        (last = start) => {
          const [reopening, number] = [numberOf(last, 'reopening'), numberOf(last, 'number')];
          const [epoch, seq] = [numberOf(last, 'epoch'), numberOf(last, 'seq')];
          return all(page, { run, reopening, number, epoch, seq, ...values });
        },
        (row) => ({ ...resultFromRow(row), reopening: numberOf(row, 'reopening') }),
      );
    },

    findAnswer: (key) => {
      const sql = 'SELECT text FROM signalbox.answers WHERE key = :key';
      const found = () => get(sql, { key: digestOf(key) }, 'find_answer');
      return driver.read(() => maybe(found(), (row) => textOf(row, 'text')));
    },
    keepAnswer: async (key, text) => {
      const values = { key: digestOf(key), at: Date.now(), text };
      await driver.read(() => all(keepAnswer, values, 'keep_answer'));
    },
  };
}

const MOST_RECORDS = 64;

const insertRun = (isShared: boolean) => `
  INSERT INTO signalbox.result_runs (id, kind, name, file, fingerprint, created_at, status, header${isShared ? ', token' : ''})
  VALUES (:id, :kind, :name, :file, :fingerprint, :at, 'running', :header${isShared ? ', :token' : ''})
  ON CONFLICT (id) DO NOTHING RETURNING id`;
const ownRun = 'SELECT id FROM signalbox.result_runs WHERE id = :id AND token = :token';
const placeOf = 'SELECT created_at, seq FROM signalbox.result_runs WHERE id = :after';
const newestFirst = 'ORDER BY created_at DESC, seq DESC';
const setEnd =
  'UPDATE signalbox.result_runs SET status = :status, report = :report WHERE id = :id RETURNING id';

const ofRun = 'run = (SELECT seq FROM signalbox.result_runs WHERE id = :run)';
const select = `SELECT number, epoch, sum, case_id, digest, text FROM signalbox.results WHERE ${ofRun}`;

const keepRating = `
  INSERT INTO signalbox.ratings (run, key, case_id, eval, rater, rated_at, text)
  SELECT seq, :key, :case_id, :eval, :rater, CAST(:at AS bigint), :text FROM signalbox.result_runs WHERE id = :run
  ON CONFLICT (run, key) DO UPDATE SET rated_at = excluded.rated_at, text = excluded.text RETURNING key`;

const reopen = `
  INSERT INTO signalbox.reopenings (run, number, scope, at, status, report)
  SELECT seq, CAST(:number AS bigint), :scope, CAST(:at AS bigint), status, report
    FROM signalbox.result_runs WHERE id = :run ON CONFLICT DO NOTHING RETURNING number`;
const ofNumbers = `${ofRun} AND number IN :numbers`;
const setAside = `
  INSERT INTO signalbox.replaced_results (run, reopening, number, epoch, case_id, digest, sum, text)
  SELECT run, CAST(:reopening AS bigint), number, epoch, case_id, digest, sum, text
    FROM signalbox.results WHERE ${ofNumbers} ORDER BY number, epoch`;
const judgeAgain =
  'UPDATE signalbox.suite_chunks SET tally = NULL, failures = 0, failure = NULL WHERE run = :run';

const keepAnswer = `
  INSERT INTO signalbox.answers (key, kept_at, text) VALUES (:key, :at, :text)
  ON CONFLICT (key) DO UPDATE SET kept_at = excluded.kept_at, text = excluded.text`;

function ofCase({ caseId }: { readonly caseId?: string | undefined } = {}) {
  if (caseId === undefined) return { sql: '', values: {} };
  return { sql: 'AND case_id = :case_id', values: { case_id: caseId } };
}

/** A fixed-length key, because IDs may exceed the maximum of an index. */
function keyOf({ caseId, eval: id, by, variant }: RatingPlace): string {
  return digestOf(JSON.stringify([caseId, id, by, ...(variant === undefined ? [] : [variant])]));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('hex');
}

const kinds: readonly ResultKind[] = ['suite', 'shadow'];
const ends: readonly RunEnd[] = ['running', 'passed', 'failed', 'error', 'interrupted'];

/** These functions throw Damaged. */
function runFromRow(row: Row): ResultRun {
  return {
    id: textOf(row, 'id'),
    kind: enumOf(row, 'kind', kinds),
    name: textOf(row, 'name'),
    file: textOf(row, 'file'),
    fingerprint: textOf(row, 'fingerprint'),
    createdAt: numberOf(row, 'created_at'),
    header: textOf(row, 'header'),
    status: enumOf(row, 'status', ends),
    report: textOrNull(row, 'report'),
  };
}

function resultFromRow(row: Row): StoredResult {
  verifySum(row, { key: 'digest', text: 'text', of: textOf(row, 'case_id') });
  return {
    number: numberOf(row, 'number'),
    epoch: numberOf(row, 'epoch'),
    caseId: textOf(row, 'case_id'),
    digest: textOf(row, 'digest'),
    text: textOf(row, 'text'),
  };
}

function reopeningFromRow(row: Row): Reopening {
  return {
    number: numberOf(row, 'number'),
    scope: textOf(row, 'scope'),
    at: numberOf(row, 'at'),
    status: textOf(row, 'status'),
    report: textOrNull(row, 'report'),
  };
}
