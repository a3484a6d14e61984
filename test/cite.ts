/** The process mode of a test: a process for each call, or one that stays alive. */
export type Transport = 'oneshot' | 'server';

/**
 * A row of a table test. `cites` names the rows of requirements.ts that it shows, with the transport if the row has
 * one: `'PK-3-01@oneshot'`, `'PK-3-18@both PK-6-21@server'`, `'PK-9-01'`. It must be a literal, because
 * test/requirements.test.ts reads the source. A title may contain the same in brackets: `test('drops a byte order mark
 * [PK-3-01@oneshot]', …)`.
 */
export interface Cited {
  readonly title: string;
  readonly cites: string;
}

/**
 * One row for each transport in `cites`, with that transport's ids in the title:
 * `test.each(onTransports(rows))('$title', async ({ on, … }) => …)`. `@both` gives two rows; a row without a transport
 * appears once, on oneshot.
 */
export function onTransports<Row extends Cited>(rows: readonly Row[]): (Row & { readonly on: Transport })[] {
  return rows.flatMap((row) =>
    transportsOf(row.cites).map((on) => ({ ...row, on, title: `${row.title} [${citesOn(on, row.cites)}]` })),
  );
}

/** Rows without a transport, with their ids in the title. */
export function titled<Row extends Cited>(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row, title: `${row.title} [${row.cites}]` }));
}

function transportsOf(cites: string): Transport[] {
  const on: Transport[] = [];
  if (/@(oneshot|both)/.test(cites) || !cites.includes('@')) on.push('oneshot');
  if (/@(server|both)/.test(cites)) on.push('server');
  return on;
}

/** `PK-3-18@both PK-6-21@server` on oneshot is `PK-3-18@oneshot`. */
function citesOn(on: Transport, cites: string): string {
  return cites
    .split(' ')
    .map((cite) => cite.replace('@both', `@${on}`))
    .filter((cite) => !cite.includes('@') || cite.endsWith(`@${on}`))
    .join(' ');
}
