import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Connection, transact } from '../../store/sqlite/connection.ts';
import { DamagedError, numberOf, type Row, textOf } from '../../store/sqlite/row.ts';
import { noHash } from './chain.ts';
import type { Head, Tip } from './head.ts';
import type { AuditKeys } from './keys.ts';
import { findOld, MOST_PRUNED } from './old-rows.ts';
import type { AuditRow, NewCall } from './row.ts';
import { createRowMaker } from './row-maker.ts';

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
  const maker = createRowMaker(keys);
  const statements = prepareStatements(database);
  const commit = (tip: Tip): Head => {
    const head = maker.sign(tip);
    statements.setHead.run({ ...head });
    return head;
  };
  const add = (tip: Tip, row: AuditRow): Tip => {
    const made = maker.link(tip, row);
    statements.insert.run({ seq: made.tip.seq, body: made.body, hash: made.tip.hash });
    return made.tip;
  };
  return {
    commit,
    tip: (): Tip => readTip(statements.head) ?? throwMissing(),
    begin: (chainId: () => string): void => {
      const at = Date.now();
      const head = statements.head.get();
      const tip = head === undefined ? { chain: chainId(), seq: 0, hash: noHash, at } : toTip(head);
      const isKnown = head !== undefined && textOf(head, 'key') === maker.key;
      if (!isKnown) commit(add(tip, maker.introduction(tip)));
    },
    addCall: (tip: Tip, call: NewCall): Tip => {
      const next = add(tip, maker.callRow(call));
      if (call.content !== undefined) statements.insertContent.run({ seq: next.seq, text: call.content });
      return next;
    },
    prune: (tip: Tip, before: number): Pruned => {
      const { through, hash, removed, isPartial } = findOld(
        statements.oldest.iterate({ most: MOST_PRUNED }),
        tip,
        before,
      );
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
