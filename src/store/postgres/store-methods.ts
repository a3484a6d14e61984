import { randomUUID } from 'node:crypto';
import { callToRow, recordFromRow } from '../sqlite/pending-table.ts';
import { toKeptRecord } from '../sqlite/record-parts.ts';
import { numberOf, type Row } from '../sqlite/row.ts';
import { changeToRow, runToRow } from '../sqlite/run-table.ts';
import { OUTPUT } from '../sqlite/text-table.ts';
import type { Change } from '../sqlite/write/change.ts';
import type { Store } from '../store.ts';
import { checkRunId, duplicateRunError } from '../store-rules.ts';
import type { Address } from './address.ts';
import type { Claims } from './claims.ts';
import type { Link } from './client.ts';
import * as pendings from './pendings.ts';
import * as reads from './reads.ts';
import type { TextReader } from './text-reader.ts';

/** What the methods of a store are made of. */
export interface StoreParts {
  readonly address: Address;
  readonly claims: Claims;
  readonly texts: TextReader;
  /** Work on the connection, after everything that was asked for before. Rejects with STORE_FAILED. */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
  /** Resolves when the change is made and on the server's disk. Rejects with STORE_FAILED and what refuses the change. */
  change(change: Change): Promise<Row>;
}

/** The methods over runs. */
export function runMethods({
  address,
  claims,
  texts,
  run: inTurn,
  change,
}: StoreParts): Pick<
  Store,
  'createRun' | 'findRun' | 'findRunStatus' | 'listRuns' | 'setRunStatus' | 'prune'
> {
  const load = loaderOf(texts);
  return {
    createRun: async (run) => {
      checkRunId(run.id);
      const made = await change({ what: 'create_run', runId: run.id, run: runToRow(run) });
      if (numberOf(made, 'is_new') === 0) throw duplicateRunError(run.id, address.location);
    },
    findRun: (id) => inTurn((link) => reads.findRun(link, id, load)),
    findRunStatus: (id) => inTurn((link) => reads.findStatus(link, id)),
    listRuns: (filter = {}) => inTurn((link) => reads.listRuns(link, filter, load)),
    setRunStatus: async (id, wanted) => {
      const { status, at } = wanted;
      const output = wanted.output
        ? toKeptRecord(wanted.output, { runId: id, step: OUTPUT }).record
        : wanted.output;
      const row = changeToRow(wanted, output?.text);
      const outputParts = output === undefined ? undefined : (output?.parts ?? null);
      const made = await change({ what: 'set_status', runId: id, change: { status, at, row, outputParts } });
      return numberOf(made, 'stands') === 1;
    },
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
}: StoreParts): Pick<Store, 'beginStep' | 'endStep' | 'listSteps' | 'readText' | 'listHistory'> {
  return {
    beginStep: async (runId, step, at, { unlessCancelled = false } = {}) => {
      const made = await change({ what: 'begin_step', runId, step: { step, at, unlessCancelled } });
      return { attempt: numberOf(made, 'attempts') };
    },
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
    listHistory: (runId) => inTurn((link) => reads.listHistory(link, runId)),
  };
}

function loaderOf(texts: TextReader): reads.TextLoader {
  return (runId) => (step, number) => texts.read({ runId, step, number });
}

/** The methods over calls that wait for a person. */
export function pendingMethods({
  run: inTurn,
  change,
}: StoreParts): Pick<
  Store,
  'summarizeRuns' | 'addPending' | 'decide' | 'findPending' | 'listPendings' | 'listExpired'
> {
  const afterExpiry = <Result>(at: number, work: (link: Link) => Promise<Result>): Promise<Result> =>
    inTurn(async (link) => {
      await pendings.expireDue(link, at);
      return await work(link);
    });
  return {
    addPending: async (call) => {
      const { id, runId, createdAt: at } = call;
      const added = await change({ what: 'add_pending', runId, call: { id, at, row: callToRow(call) } });
      return recordFromRow(added);
    },
    decide: (id, ruling, at) => {
      const token = randomUUID();
      return inTurn((link) => pendings.decide(link, { id, ruling, at, token }));
    },
    findPending: (id, at) => afterExpiry(at, (link) => pendings.findPending(link, id)),
    summarizeRuns: (filter, at) => afterExpiry(at, (link) => reads.summarizeRuns(link, filter)),
    listPendings: (filter, at) => afterExpiry(at, (link) => pendings.listPendings(link, filter)),
    listExpired: (at) => afterExpiry(at, (link) => pendings.runsExpired(link)),
  };
}
