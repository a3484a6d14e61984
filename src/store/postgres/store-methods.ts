import { toKeptRecord } from '../sqlite/record-parts.ts';
import { numberOf, type Row } from '../sqlite/row.ts';
import type { Change } from '../sqlite/write/change.ts';
import type { Store } from '../store.ts';
import type { Claims } from './claims.ts';
import type { Address } from './connection/address.ts';
import type { Link } from './connection/client.ts';
import * as pendings from './pendings.ts';
import * as reads from './reads.ts';
import type { TextReader } from './texts/text-reader.ts';
import { listDue } from './work/due.ts';

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
