import { toKeptRecord } from '../sqlite/record-parts.ts';
import { enumOf, numberOf, numberOrNull, type Row, textOf } from '../sqlite/row.ts';
import type { Change } from '../sqlite/write/change.ts';
import type { Store } from '../store.ts';
import { AGENT_SOURCE } from '../store-rules.ts';
import type { DueFilter, DueRuns } from '../suspension.ts';
import type { Claims } from './claims.ts';
import type { Address } from './connection/address.ts';
import type { Link } from './connection/client.ts';
import * as pendings from './pendings.ts';
import * as reads from './reads.ts';
import { withSuspensions } from './reads.ts';
import { fromKept, toKeptOrNull } from './rows.ts';
import type { TextReader } from './texts/text-reader.ts';

/** What the methods of a store are made of. */
export interface StoreParts {
  readonly address: Address;
  readonly claims: Claims;
  readonly texts: TextReader;
  /** After how long without a sign of life a process is taken for gone, in ms. */
  readonly hungMs: number;
  /** Work on the connection, after everything that was asked for before. Rejects with STORE_FAILED. */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
  /** Resolves when the change is made and on the server's disk. Rejects with STORE_FAILED and what refuses the change. */
  change(change: Change): Promise<Row>;
}

/** The methods over runs. */
export function runMethods({
  claims,
  texts,
  run: inTurn,
}: StoreParts): Pick<Store, 'findRun' | 'findRunStatus' | 'listRuns' | 'listClaimed' | 'prune'> {
  const load = loaderOf(texts);
  return {
    findRun: (id) => inTurn((link) => reads.findRun(link, id, load)),
    findRunStatus: (id) => inTurn((link) => reads.findStatus(link, id)),
    listRuns: (filter = {}) => inTurn((link) => reads.listRuns(link, filter, load)),
    listClaimed: () => inTurn(reads.listClaimed),
    prune: async (before) => {
      let removed = 0;
      for (let behind = 0; ; ) {
        const row = await inTurn((link) => pruneSome(link, before, behind, claims.held()));
        removed += numberOf(row, 'removed');
        if (numberOf(row, 'seen') === 0) return removed;
        behind = numberOf(row, 'last');
      }
    },
  };
}

async function pruneSome(link: Link, before: number, behind: number, own: readonly string[]): Promise<Row> {
  const text = 'SELECT * FROM signalbox.prune($1, $2, $3)';
  const [row] = await link.query({ text, values: [before, behind, own] });
  return row ?? {};
}

/** The methods over steps and their long texts. */
export function stepMethods({
  texts,
  run: inTurn,
  change,
}: StoreParts): Pick<Store, 'endStep' | 'listSteps' | 'pageSteps' | 'readText' | 'listHistory'> {
  return {
    endStep: async (runId, step, outcome, at) => {
      const { record, fresh } = toKeptRecord(outcome, { runId, step });
      await change({ what: 'end_step', runId, step: { step, outcome: record, at } });
      for (const text of fresh) {
        texts.hold(text.place, text.read());
        text.release();
      }
    },
    listSteps: (runId) => inTurn((link) => reads.listSteps(link, runId, loaderOf(texts))),
    readText: (place) => texts.read(place),
    pageSteps: (runId, page) => inTurn((link) => reads.pageSteps(link, runId, page, loaderOf(texts))),
    listHistory: (runId, limit) => inTurn((link) => reads.listHistory(link, runId, limit)),
  };
}

function loaderOf(texts: TextReader): reads.TextLoader {
  return (runId) => (step, number) => texts.read({ runId, step, number });
}

/** The methods over calls that wait for a person. */
export function pendingMethods({
  run: inTurn,
  hungMs,
}: StoreParts): Pick<Store, 'summarizeRuns' | 'findPending' | 'listPendings' | 'listExpired' | 'listDue'> {
  const afterExpiry = <Result>(at: number, work: (link: Link) => Promise<Result>): Promise<Result> =>
    inTurn(async (link) => {
      await pendings.expireDue(link, at);
      return await work(link);
    });
  return {
    findPending: (id, at) => afterExpiry(at, (link) => pendings.findPending(link, id)),
    summarizeRuns: (filter, at) => afterExpiry(at, (link) => reads.summarizeRuns(link, filter, hungMs)),
    listPendings: (filter, at) => afterExpiry(at, (link) => pendings.listPendings(link, filter)),
    listDue: (filter) => afterExpiry(filter.at, (link) => listDue(link, filter)),
    listExpired: (at) => afterExpiry(at, (link) => pendings.runsExpired(link)),
  };
}

/** Runs that can be gone on with, and when the next one can be, by the clock of the database; the oldest first. */
async function listDue(link: Link, { at, withFaults = false, id }: DueFilter): Promise<DueRuns> {
  const rows = await link.query({
    text: dueRuns,
    values: [at, withFaults, AGENT_SOURCE, toKeptOrNull(id ?? null)],
  });
  const [next] = await link.query({ text: nextDue, values: [at] });
  return {
    runs: rows.map((row) => ({
      id: textOf(fromKept(row), 'id'),
      why: enumOf(row, 'due', ['fault', 'wait', 'decided', 'running']),
    })),
    nextAt: numberOrNull(next ?? { at: null }, 'at') ?? undefined,
  };
}

const dueRuns = `SELECT id, due FROM (SELECT runs.seq, runs.id, CASE
      WHEN runs.status = 'running' THEN 'running'
      WHEN s.due_at <= signalbox.now_ms($1) OR ($2::boolean AND s.why = 'fault') THEN s.why
      WHEN (s.why IS NULL OR s.calls = 1)
        AND signalbox.has_call(runs.id, false) AND NOT signalbox.has_call(runs.id, true) THEN 'decided'
    END AS due
  FROM ${withSuspensions} WHERE runs.status IN ('running', 'pending') AND runs.source <> $3
    AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = runs.id) AND ($4::text IS NULL OR runs.id = $4)) AS found
  WHERE due IS NOT NULL ORDER BY seq`;

const nextDue = `SELECT min(at) AS at FROM (
  SELECT min(s.due_at) AS at FROM signalbox.suspensions AS s JOIN signalbox.runs AS r ON r.seq = s.run
    WHERE r.status = 'pending' AND s.due_at > signalbox.now_ms($1)
      AND NOT EXISTS (SELECT 1 FROM signalbox.run_parents AS k WHERE k.id = r.id)
  UNION ALL SELECT min(expires_at) FROM signalbox.pendings WHERE ruling IS NULL AND expires_at > signalbox.now_ms($1)) AS times`;
