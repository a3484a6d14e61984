import type { Tip } from '../head.ts';
import type { AuditRow } from '../row.ts';
import type { RowMaker } from '../row-maker.ts';
import type { Addition } from './chains.ts';

interface NewRow {
  readonly row: AuditRow;
  readonly content: string | undefined;
}

/** What is kept of rows that stand behind a tip. */
export function addRows(behind: Tip, rows: readonly NewRow[], maker: RowMaker): Addition {
  const bodies: string[] = [];
  const hashes: string[] = [];
  const contents: [number, string][] = [];
  let tip = behind;
  for (const { row, content } of rows) {
    const made = maker.link(tip, row);
    tip = made.tip;
    bodies.push(made.body);
    hashes.push(tip.hash);
    if (content !== undefined) contents.push([tip.seq, content]);
  }
  return { tip, bodies, hashes, contents };
}
