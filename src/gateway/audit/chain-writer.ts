import { createHmac, type KeyObject } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Connection, transact } from '../../store/sqlite/connection.ts';
import { DamagedError, numberOf, type Row, textOf } from '../../store/sqlite/row.ts';
import { digestOf, hashLink, noHash } from './chain.ts';
import { fingerprintOf, type Head, signTip, type Tip } from './head.ts';
import { type AuditKeys, readSigningKey } from './keys.ts';
import type { AuditRow, CallRow, NewCall } from './row.ts';

/** Makes rows of a chain. Each method is one transaction, and what it did is durable when it returns. All throw what SQLite says. */
export interface ChainWriter {
  append(calls: readonly NewCall[]): Head;
  /** Removes some of the first rows that are older, and says so in a new row; removes none if none is. */
  prune(before: number): Pruned;
  /** Signs the head anew, which shows whether the file can be written. */
  touch(): Head;
}

interface Pruned {
  readonly head: Head;
  readonly removed: number;
  /** Whether there may be more that is older. */
  readonly isPartial: boolean;
}

/** Takes up the chain of a database, or begins it. */
export function openChain(connection: Connection, keys: AuditKeys, chainId: () => string): ChainWriter {
  const chain = createChain(connection.database, keys);
  const write = <Result>(work: (tip: Tip) => Result): Result => {
    connection.requireSameFile();
    return transact(connection.database, () => work(chain.tip()));
  };
  transact(connection.database, () => chain.begin(chainId));
  return {
    append: (calls) => write((tip) => chain.commit(calls.reduce(chain.addCall, tip))),
    prune: (before) => write((tip) => chain.prune(tip, before)),
    touch: () => write((tip) => chain.commit(tip)),
  };
}

/** The steps of a transaction over the rows. */
function createChain(database: DatabaseSync, keys: AuditKeys) {
  const privateKey: KeyObject = readSigningKey(keys.signing, 'the key of the audit');
  const key = fingerprintOf(privateKey);
  const statements = prepareStatements(database);
  const commit = (tip: Tip): Head => {
    const head = signTip({ ...tip, at: Date.now() }, privateKey, key);
    statements.setHead.run({ ...head });
    return head;
  };
  const add = (tip: Tip, row: AuditRow): Tip => {
    const body = JSON.stringify(row);
    const seq = tip.seq + 1;
    const hash = hashLink({ chain: tip.chain, seq, previous: tip.hash, body });
    statements.insert.run({ seq, body, hash });
    return { ...tip, seq, hash };
  };
  const keyDigest = (digest: string) =>
    createHmac('sha256', Buffer.from(keys.digest, 'hex')).update(digest).digest('hex');
  return {
    commit,
    tip: (): Tip => readTip(statements.head) ?? throwMissing(),
    begin: (chainId: () => string): void => {
      const at = Date.now();
      const head = statements.head.get();
      const tip = head === undefined ? { chain: chainId(), seq: 0, hash: noHash, at } : toTip(head);
      const isKnown = head !== undefined && textOf(head, 'key') === key;
      if (!isKnown)
        commit(add(tip, { kind: head === undefined ? 'begin' : 'key', at, public_key: keys.public }));
    },
    addCall: (tip: Tip, { row, content }: NewCall): Tip => {
      const keyed: CallRow = {
        ...row,
        request_digest: keyDigest(row.request_digest),
        answer_digest: row.answer_digest === null ? null : keyDigest(row.answer_digest),
        content: content === undefined ? null : digestOf(content),
      };
      const next = add(tip, keyed);
      if (content !== undefined) statements.insertContent.run({ seq: next.seq, text: content });
      return next;
    },
    prune: (tip: Tip, before: number): Pruned => {
      const { through, hash, removed, isPartial } = findOld(statements, tip, before);
      if (removed === 0) return { head: commit(tip), removed, isPartial: false };
      const next = add(tip, { kind: 'prune', at: Date.now(), through, hash, removed });
      statements.remove.run({ through });
      return { head: commit(next), removed, isPartial };
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    head: database.prepare('SELECT id AS chain, seq, hash, at, key FROM chain'),
    setHead: database.prepare(`
      INSERT INTO chain (one, id, seq, hash, at, key, signature)
      VALUES (1, :chain, :seq, :hash, :at, :key, :signature)
      ON CONFLICT (one) DO UPDATE SET id = excluded.id, seq = excluded.seq, hash = excluded.hash,
        at = excluded.at, key = excluded.key, signature = excluded.signature`),
    insert: database.prepare('INSERT INTO rows (seq, body, hash) VALUES (:seq, :body, :hash)'),
    insertContent: database.prepare('INSERT INTO contents (seq, text) VALUES (:seq, :text)'),
    oldest: database.prepare(
      "SELECT seq, hash, body ->> '$.at' AS at, body ->> '$.kind' AS kind FROM rows ORDER BY seq LIMIT :most",
    ),
    remove: database.prepare('DELETE FROM rows WHERE seq <= :through'),
  };
}

interface OldRows {
  readonly through: number;
  readonly hash: string;
  readonly removed: number;
  readonly isPartial: boolean;
}

/**
 * The first rows, up to a call that is older. What is no call goes with the calls behind it, and so does one of a time to
 * come, which a wrong clock has written.
 */
function findOld(statements: { readonly oldest: StatementSync }, tip: Tip, before: number): OldRows {
  let old: OldRows = { through: 0, hash: noHash, removed: 0, isPartial: false };
  const now = Date.now();
  let count = 0;
  for (const row of statements.oldest.iterate({ most: MOST_PRUNED })) {
    const seq = numberOf(row, 'seq');
    const at = numberOf(row, 'at');
    const isPassedOver = textOf(row, 'kind') !== 'call' || at > now;
    // The last row stays, so that there is one to go on from.
    if (seq === tip.seq || (!isPassedOver && at >= before)) break;
    count += 1;
    if (isPassedOver) continue;
    old = { through: seq, hash: textOf(row, 'hash'), removed: count, isPartial: count === MOST_PRUNED };
  }
  return old;
}

/** Rows that one transaction removes, so that calls need not wait long for it. */
const MOST_PRUNED = 10_000;

function readTip(statement: StatementSync): Tip | undefined {
  const row = statement.get();
  return row && toTip(row);
}

function toTip(row: Row): Tip {
  return {
    chain: textOf(row, 'chain'),
    seq: numberOf(row, 'seq'),
    hash: textOf(row, 'hash'),
    at: numberOf(row, 'at'),
  };
}

function throwMissing(): never {
  throw new DamagedError('the head of the audit is gone');
}
