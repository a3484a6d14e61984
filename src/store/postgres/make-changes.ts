import { type RuntimeError, toFault } from '../../base/errors.ts';
import { DamagedError } from '../sqlite/row.ts';
import type { Answer, Change } from '../sqlite/write/change.ts';
import { endedRunError, unknownRunError } from '../store-rules.ts';
import { type FunctionCall, toCall, toStatement } from './change-call.ts';
import type { Address } from './connection/address.ts';
import type { Link } from './connection/client.ts';
import { poolerError } from './connection/pooler.ts';
import { transact } from './connection/session.ts';
import { lostClaimError } from './lost-claim.ts';
import { fromKept, readAnswer } from './rows.ts';

export interface ChangeMaker {
  readonly address: Address;
  /** The epoch with which the run is claimed here; null: it is not. */
  epochOf(runId: string): number | null;
  /** A name for a change, the same whenever it is asked for. */
  tokenOf(change: Change): string;
}

/** Makes all of the changes in one transaction, or none. Rejects with what Postgres says. */
export async function makeChanges(link: Link, maker: ChangeMaker, all: readonly Change[]): Promise<Answer[]> {
  const calls = all.map((change) => {
    const owner = { epoch: maker.epochOf(change.runId), pid: link.pid, token: maker.tokenOf(change) };
    return toCall(change, owner);
  });
  const answers =
    calls.length <= MOST_CALLS
      ? await callAll(link, calls)
      : await transact(link, async () => {
          const each: unknown[] = [];
          for (let from = 0; from < calls.length; from += MOST_CALLS)
            each.push(...(await callAll(link, calls.slice(from, from + MOST_CALLS))));
          return each;
        });
  return all.map((change, index) => toAnswer(change, answers[index], maker.address));
}

/** In one statement. Source: https://www.postgresql.org/docs/current/limits.html (1,664 columns of a result) */
const MOST_CALLS = 500;

async function callAll(link: Link, calls: readonly FunctionCall[]): Promise<unknown[]> {
  const [row] = await link.query(toStatement(calls));
  if (row === undefined) throw new DamagedError('changes were not answered');
  return calls.map((_, index) => row[`a${index}`]);
}

function toAnswer({ runId }: Change, text: unknown, address: Address): Answer {
  const row = readAnswer(text);
  const { refused } = row;
  if (refused === undefined) return { row: fromKept(row) };
  return { refusal: toFault(errorOf(refused, runId, address)) };
}

function errorOf(refused: unknown, runId: string, address: Address): RuntimeError {
  switch (refused) {
    case 'RUN_UNKNOWN':
      return unknownRunError(runId, address.location);
    case 'RUN_ENDED':
      return endedRunError(runId, 'cancelled');
    case 'OTHER_SESSION':
      return poolerError(address);
    default:
      return lostClaimError(runId, address.location);
  }
}
