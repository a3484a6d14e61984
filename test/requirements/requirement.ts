import type { DialectName } from '../../src/config/config.ts';
import { calling } from '../table.ts';

/** The transports that tests must cover; `none` for rows that involve no transport. */
type Cells = 'oneshot' | 'server' | 'both' | 'http' | 'oneshot+http' | 'none';

/** One required behavior, and where tests must show it. */
export interface Requirement {
  /**
   * `PK-<section>-<row>` for promptkit.md of docs/reference/protocols/, PC for picoclaw.md, CH for chibi.md, CC for
   * claude.md, AO for agentao.md, `DS-<chapter>-<row>` for the other pages of docs/. Never reused.
   */
  readonly id: string;
  /**
   * `claude.md §2` is that section of docs/reference/protocols/claude.md; `guides/write-hooks.md` is
   * docs/guides/write-hooks.md.
   */
  readonly source: string;
  readonly sentence: string;
  readonly cells: Cells;
  /** The dialect in which tests must show it; `promptkit-go` if that payload differs. */
  readonly dialect: DialectName;
}

export type Row = readonly [id: string, cells: Cells, sentence: string];

/** A row for each line: `PK-3-01 | oneshot | A byte order mark is dropped.` */
export const rowsOf = calling((id: string, cells: Cells, sentence: string): Row => [id, cells, sentence]);

export function section(
  source: string,
  rows: readonly Row[],
  dialect: Requirement['dialect'] = 'promptkit',
): readonly Requirement[] {
  return rows.map(([id, cells, sentence]) => ({ id, source, sentence, cells, dialect }));
}
