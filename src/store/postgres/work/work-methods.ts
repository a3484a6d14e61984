import { randomUUID } from 'node:crypto';
import type { Announce, SharedWork, Transaction } from '../../shared-work.ts';
import { numberOf, textOf } from '../../sqlite/row.ts';
import { labelsToText } from '../../sqlite/run-list/labels.ts';
import { kinToText } from '../../sqlite/run-list/parents.ts';
import { runToRow } from '../../sqlite/run-table.ts';
import type { NewRun, Store } from '../../store.ts';
import { checkRunId, duplicateRunError } from '../../store-rules.ts';
import { toCall, toStatement } from '../change-call.ts';
import type { Address } from '../connection/address.ts';
import type { Link } from '../connection/client.ts';
import * as pendings from '../pendings.ts';
import { readAnswer, toKept } from '../rows.ts';
import { announceAll, isSweepDue, sweep } from './sweep.ts';
import { inTransaction } from './transaction.ts';
import * as workers from './workers.ts';

export interface WorkParts {
  readonly address: Address;
  readonly hungMs: number;
  /** Work on the connection, after everything that was asked for before. Rejects with STORE_FAILED. */
  run<Result>(work: (link: Link) => Promise<Result>): Promise<Result>;
}

/** What a store in Postgres has for workers, and what of its other methods tells them of runs. */
export interface WorkMethods extends Pick<Store, 'decide'> {
  readonly work: SharedWork;
  /** Keeps a run that waits for a worker. Rejects as `createRun` does. */
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
    const [row] = await transaction.query({ text: findDue, values: [toKept(runId)] });
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
        const statement = { ...adopt, values: [runIds.map(toKept)] };
        const rows = await (transaction?.query(statement) ?? run((link) => link.query(statement)));
        return rows.map((row) => textOf(row, 'id'));
      },
      giveBack: (runId) => transact((transaction) => announceDue(transaction, runId)),
      sweep: async () => {
        const [due] = await run((link) => link.query(isSweepDue));
        if (due === undefined) return { hasRun: false, announced: 0 };
        return await transact((transaction) => sweep(transaction, { announce, hungMs }));
      },
      beat: (worker) => run((link) => workers.beat(link, worker)),
      leave: (id) => run((link) => workers.leave(link, id)),
      listWorkers: () => run((link) => workers.listWorkers(link, hungMs)),
    },
    decide: (id, ruling, at) => {
      const token = randomUUID();
      return transact(async (transaction, link) => {
        const decided = await pendings.decide(link, { id, ruling, at, token });
        if (decided?.isAccepted === true) {
          const { runId, parent } = decided.record;
          await announceDue(transaction, parent?.root ?? runId);
        }
        return decided;
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

const findDue = `SELECT build FROM signalbox.runs
  WHERE id = $1 AND build IS NOT NULL AND (ready OR (dispatched AND status IN ('queued', 'running')))`;

const adopt = {
  text: `UPDATE signalbox.runs SET dispatched = true, announced_at = NULL
    WHERE id = ANY ($1) AND (ready OR (dispatched AND status IN ('queued', 'running'))) RETURNING id`,
};
