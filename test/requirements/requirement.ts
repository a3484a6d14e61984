/** On which transports a behaviour must be shown; `none` for rows in which no transport takes part. */
export type Cells = 'oneshot' | 'server' | 'both' | 'none';

/** One required behaviour, and where tests must show it. */
export interface Requirement {
  /** `PK-<section>-<row>` for promptkit.md, `DS-<chapter>-<row>` for design.md; never reused. */
  readonly id: string;
  readonly source: string;
  readonly sentence: string;
  readonly cells: Cells;
  /** The wire on which it must be shown; `promptkit-go` where that payload differs. */
  readonly dialect: 'promptkit' | 'promptkit-go';
}

export type Row = readonly [id: string, cells: Cells, sentence: string];

/** The rows of one section of a document, spoken on one wire. */
export function section(
  source: string,
  rows: readonly Row[],
  dialect: Requirement['dialect'] = 'promptkit',
): readonly Requirement[] {
  return rows.map(([id, cells, sentence]) => ({ id, source, sentence, cells, dialect }));
}
