import { createHash } from 'node:crypto';
import { RuntimeError } from '../base/errors.ts';
import { canonicalText } from '../base/json/equal.ts';
import type { Json } from '../base/json/json.ts';
import { all, type Driver, get, maybe, type Work } from './driver.ts';
import { numberOf, type Row, textOf, textOrNull } from './sqlite/row.ts';
import { endedInSql } from './store-rules.ts';

/** Who makes a call, and the ID that the caller gives it. */
export interface CallIdentity {
  readonly principal: string;
  /** Absent: the call is known by its tool and its arguments, until its outcome has been delivered. */
  readonly id?: string | undefined;
  /**
   * A new ID joins a call of the same tool with the same arguments that waits for a person, or whose outcome nobody has
   * received: a model that repeats its call gives it a new ID.
   */
  readonly joinsWaiting?: boolean | undefined;
}

/**
 * How long an identity counts after its run has ended, and the outcome of its call with it. How long a decision applies
 * to the same call of an agent: an approval until it is used, a rejection for every call.
 */
export const IDENTITY_MS = 24 * 3600 * 1000;

/** The identity of the call that a run makes. */
export interface KeptIdentity {
  /** Null: no other call can be the same one. */
  readonly key: string | null;
  readonly run: string;
  readonly principal: string;
  /** A digest of the tool and its arguments. */
  readonly args: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** All methods throw STORE_FAILED. */
export interface Identities {
  /**
   * Stores the identity unless another run has its key. Returns the one that stands; exactly one caller gets its own
   * run, across processes. The run need not exist yet: if a crash prevented it, the next caller creates it.
   */
  claimIdentity(wanted: KeptIdentity): Promise<KeptIdentity>;
  /** By its key, if it still counts at `at` (ms since 1970), or by its run. */
  findIdentity(
    by: { readonly key: string; readonly at: number } | { readonly run: string },
  ): Promise<KeptIdentity | undefined>;
  /** Frees the key, so that the next claim is a new call. True for only one caller, across processes. */
  endIdentity(key: string, run: string): Promise<boolean>;
}

/** Calls have the same arguments if all digits are equal; the order of members does not matter. */
export function identify(
  { principal, id }: CallIdentity,
  tool: string,
  args: Json,
): Pick<KeptIdentity, 'principal' | 'args'> & { readonly key: string } {
  const digest = digestOf([tool, canonicalText(args.text)]);
  const key = id === undefined ? keyWithoutId({ principal, args: digest }) : digestOf([principal, 'id', id]);
  return { key, principal, args: digest };
}

/** The key of a call without an ID. It ends once the outcome has been delivered. */
export function keyWithoutId({ principal, args }: Pick<KeptIdentity, 'principal' | 'args'>): string {
  return digestOf([principal, 'args', args]);
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

const MOST_TRIES = 10;

export function identityMethods(driver: Driver): Identities {
  const counting = function* (key: string, at: number): Work<KeptIdentity | undefined> {
    return yield* maybe(get(byKey, { key, at, kept: IDENTITY_MS }, 'identity_by_key'), identityFromRow);
  };
  return {
    claimIdentity: (wanted) =>
      driver.transact(function* () {
        const { key, run, principal, args, at } = wanted;
        for (let tries = 0; tries < MOST_TRIES; tries += 1) {
          yield* all(prune, { at, kept: IDENTITY_MS });
          yield* all(insert, { key, run, principal, args, at });
          const found = key === null ? wanted : yield* counting(key, at);
          // A concurrent transaction may have freed the key in between.
          if (found !== undefined) return found;
        }
        throw new RuntimeError('STORE_FAILED', 'the identity of the call could not be stored');
      }),
    findIdentity: (by) =>
      driver.read(() =>
        'key' in by
          ? counting(by.key, by.at)
          : maybe(get(byRun, { run: by.run }, 'identity_by_run'), identityFromRow),
      ),
    endIdentity: (key, run) =>
      driver.read(function* () {
        return (yield* all(end, { key, run })).length === 1;
      }),
  };
}

const columns = 'i.key, i.run, i.principal, i.args, i.at FROM signalbox.call_identities AS i';
const counts = `(i.at > signalbox.now_ms(:at) - :kept OR EXISTS (SELECT 1 FROM signalbox.runs AS r WHERE r.id = i.run
  AND (r.status NOT IN (${endedInSql}) OR r.updated_at > signalbox.now_ms(:at) - :kept)))`;
const byKey = `SELECT ${columns} WHERE i.key = :key AND ${counts}`;
const byRun = `SELECT ${columns} WHERE i.run = :run ORDER BY i.seq LIMIT 1`;
const insert = `INSERT INTO signalbox.call_identities (key, run, principal, args, at)
  VALUES (:key, :run, :principal, :args, signalbox.now_ms(:at)) ON CONFLICT DO NOTHING`;
const end = `UPDATE signalbox.call_identities SET key = NULL WHERE key = :key AND run = :run RETURNING run`;
// In the order of an index that finds only old rows; by run, SQLite would read every row.
const prune = `DELETE FROM signalbox.call_identities WHERE run IN (SELECT i.run FROM signalbox.call_identities AS i
  WHERE i.at <= signalbox.now_ms(:at) - :kept AND NOT ${counts} ORDER BY i.at, i.run FOR UPDATE SKIP LOCKED)`;

function identityFromRow(row: Row): KeptIdentity {
  return {
    key: textOrNull(row, 'key'),
    run: textOf(row, 'run'),
    principal: textOf(row, 'principal'),
    args: textOf(row, 'args'),
    at: numberOf(row, 'at'),
  };
}
