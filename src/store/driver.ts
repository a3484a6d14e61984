import type { Row } from './sqlite/row.ts';

type QueryValue = string | number | boolean | null | readonly string[] | readonly number[];

/** A statement in the words of Postgres, with named values: `SELECT id FROM signalbox.runs WHERE seq = :seq`. */
export interface Query {
  readonly sql: string;
  readonly values: Readonly<Record<string, QueryValue>>;
  /** Of a statement whose text is always the same: a server prepares it once in a session. */
  readonly name?: string | undefined;
}

/**
 * Work on a database, written once for every kind: it yields statements, and goes on with their rows. A file does all of it at once, so
 * that no other work of this process comes between; a server answers each statement in its time.
 */
export type Work<Result> = Generator<Query, Result, Row[]>;

/** A database. All methods reject with STORE_FAILED. */
export interface Driver {
  /** The file or place of the store, for error messages. */
  readonly location: string;
  /** Whether many machines use it at once. */
  readonly isShared: boolean;
  /** Does the work, of which each statement is a transaction. It may be begun anew, when a connection is lost. */
  read<Result>(work: () => Work<Result>): Promise<Result>;
  /** Does all of the work in one transaction, or nothing. It may be done twice, too. */
  transact<Result>(work: () => Work<Result>): Promise<Result>;
}

/** The rows of a statement; of a change, those that it RETURNS. */
export function* all(sql: string, values: Query['values'] = {}, name?: string): Work<Row[]> {
  return yield { sql, values, name };
}

/** The first row of a statement. */
export function* get(sql: string, values: Query['values'] = {}, name?: string): Work<Row | undefined> {
  return (yield { sql, values, name })[0];
}

/** What rows stand for. It is read as part of the work, so that damage which `read` finds is told as STORE_FAILED. */
export function* each<Item>(rows: Work<Row[]>, read: (row: Row) => Item): Work<Item[]> {
  return (yield* rows).map(read);
}

/** What a row stands for, where there is one. */
export function* maybe<Item>(row: Work<Row | undefined>, read: (row: Row) => Item): Work<Item | undefined> {
  const found = yield* row;
  return found && read(found);
}

/** Does work at once. */
export function doNow<Result>(work: Work<Result>, ask: (query: Query) => Row[]): Result {
  let step = work.next();
  while (step.done !== true) step = work.next(ask(step.value));
  return step.value;
}

/** Does work on a server. */
export async function doLater<Result>(
  work: Work<Result>,
  ask: (query: Query) => Promise<Row[]>,
): Promise<Result> {
  let step = work.next();
  while (step.done !== true) step = work.next(await ask(step.value));
  return step.value;
}

/** Reads page by page, so that a slow reader holds up nobody; `page` has the rows behind one, or the first ones. */
export async function* inPages<Item>(
  driver: Driver,
  page: (last: Row | undefined) => Work<Row[]>,
  read: (row: Row) => Item,
): AsyncGenerator<Item> {
  for (let last: Row | undefined; ; ) {
    const behind = last;
    const found = await driver.read(() => each(page(behind), (row) => ({ row, item: read(row) })));
    for (const { item } of found) yield item;
    last = found.at(-1)?.row;
    if (last === undefined) return;
  }
}
