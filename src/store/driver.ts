import type { Row } from './sqlite/row.ts';

type QueryValue = string | number | boolean | null | readonly string[] | readonly number[];

/** A statement in the SQL of Postgres with named values: `SELECT id FROM signalbox.runs WHERE seq = :seq`. */
export interface Query {
  readonly sql: string;
  readonly values: Readonly<Record<string, QueryValue>>;
  /** Set if the text never changes: a server then prepares it once per session. */
  readonly name?: string | undefined;
}

/**
 * Database work for every kind of store: it yields statements and receives their rows. On a file all of it runs at
 * once, without other work of this process in between. A server answers each statement asynchronously.
 */
export type Work<Result> = Generator<Query, Result, Row[]>;

/** All methods reject with STORE_FAILED. */
export interface Driver {
  readonly location: string;
  readonly isShared: boolean;
  /** Runs the work, each statement in a transaction of its own. The work may restart after a lost connection. */
  read<Result>(work: () => Work<Result>): Promise<Result>;
  /** Runs the work in one transaction. It may run twice. */
  transact<Result>(work: () => Work<Result>): Promise<Result>;
}

export function* all(sql: string, values: Query['values'] = {}, name?: string): Work<Row[]> {
  return yield { sql, values, name };
}

export function* get(sql: string, values: Query['values'] = {}, name?: string): Work<Row | undefined> {
  return (yield { sql, values, name })[0];
}

/** Reads rows as part of the work, so that damage rejects with STORE_FAILED. */
export function* each<Item>(rows: Work<Row[]>, read: (row: Row) => Item): Work<Item[]> {
  return (yield* rows).map(read);
}

export function* maybe<Item>(row: Work<Row | undefined>, read: (row: Row) => Item): Work<Item | undefined> {
  const found = yield* row;
  return found && read(found);
}

export function doNow<Result>(work: Work<Result>, ask: (query: Query) => Row[]): Result {
  let step = work.next();
  while (step.done !== true) step = work.next(ask(step.value));
  return step.value;
}

export async function doLater<Result>(
  work: Work<Result>,
  ask: (query: Query) => Promise<Row[]>,
): Promise<Result> {
  let step = work.next();
  while (step.done !== true) step = work.next(await ask(step.value));
  return step.value;
}

/** Reads page by page, so that a slow reader blocks nobody; `page` returns the rows after one, or the first rows. */
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
