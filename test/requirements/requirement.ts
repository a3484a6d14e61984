import type { DialectName } from '../../src/config/config.ts';
import { calling } from '../table.ts';

/** On which transports a behaviour must be shown; `none` for rows in which no transport takes part. */
type Cells = 'oneshot' | 'server' | 'both' | 'http' | 'oneshot+http' | 'none';

/** One required behaviour, and where tests must show it. */
export interface Requirement {
  /**
   * `PK-<section>-<row>` for promptkit.md of docs/reference/protocols/, PC for picoclaw.md, CH for chibi.md, CC for claude.md, AO for
   * agentao.md, `DS-<chapter>-<row>` for the other pages of docs/; never reused.
   */
  readonly id: string;
  /** `claude.md §2` is that section of docs/reference/protocols/claude.md, `guides/write-hooks.md` the page docs/guides/write-hooks.md. */
  readonly source: string;
  readonly sentence: string;
  readonly cells: Cells;
  /** The wire on which it must be shown; `promptkit-go` where that payload differs. */
  readonly dialect: DialectName;
}

export type Row = readonly [id: string, cells: Cells, sentence: string];

/** Rows as a table, a line for each: `PK-3-01 | oneshot | A byte order mark is dropped.` */
export const rowsOf = calling((id: string, cells: Cells, sentence: string): Row => [id, cells, sentence]);

/** The rows of one section of a page, spoken on one wire. */
export function section(
  source: string,
  rows: readonly Row[],
  dialect: Requirement['dialect'] = 'promptkit',
): readonly Requirement[] {
  return rows.map(([id, cells, sentence]) => ({ id, source, sentence, cells, dialect }));
}
