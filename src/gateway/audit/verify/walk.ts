import { createHash } from 'node:crypto';
import { noHash } from '../chain.ts';
import { hashOf, type KeptRow, membersOf } from './read-rows.ts';
import type { Problems } from './report.ts';

/** Follows a chain row by row. */
export interface Walk {
  step(row: KeptRow): void;
  /** After the last row. */
  end(): Walked;
}

/** What a walk came to. */
export interface Walked {
  readonly rows: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly lastHash: string;
  /** How many rows were removed before the first one. */
  readonly pruned: number;
  /** The hash of the last one of them. */
  readonly prunedHash: string;
}

/** Starts a walk along the chain of that id; tells `onHash` the number and the kept hash of each row. */
export function startWalk(
  chain: string,
  problems: Problems,
  onHash: (seq: number, hash: string) => void,
): Walk {
  let rows = 0;
  let first: KeptRow | undefined;
  let last = 0;
  let previous = noHash;
  let pruned: PruneNote | undefined;
  return {
    step: (row) => {
      const members = membersOf(row.body);
      rows += 1;
      first ??= row;
      if (row === first && row.seq !== 1) checkNumber(row, problems);
      else if (row.seq !== last + 1) problems.add(missing(last + 1, row.seq - 1), row.seq, idOf(members));
      // What the first row follows after a removal is known when the row that tells of it has come.
      if (row !== first || row.seq === 1) checkHash(chain, row, previous, problems, idOf(members));
      checkContent(row, members, problems);
      pruned = readPruneNote(row, members) ?? pruned;
      onHash(row.seq, row.hash);
      [last, previous] = [row.seq, row.hash];
    },
    end: () => {
      const noted = first === undefined ? undefined : checkBeginning(chain, first, pruned, problems);
      const ends = { rows, first: first?.seq ?? null, last: rows === 0 ? null : last, lastHash: previous };
      return { ...ends, pruned: noted?.through ?? 0, prunedHash: noted?.hash ?? noHash };
    },
  };
}

function checkNumber({ seq }: KeptRow, problems: Problems): void {
  if (seq < 1) problems.add(`there is a row ${seq}, and the first row is 1`, seq);
}

function checkHash(
  chain: string,
  row: KeptRow,
  previous: string,
  problems: Problems,
  id: string | null,
): void {
  if (hashOf(chain, row, previous) === row.hash) return;
  problems.add(`row ${row.seq} was changed, or does not follow the row before it`, row.seq, id);
}

function checkContent(
  { seq, content }: KeptRow,
  members: Readonly<Record<string, unknown>> | undefined,
  problems: Problems,
): void {
  const wanted = members?.['content'];
  const id = idOf(members);
  const isKept = typeof wanted === 'string';
  if (content === undefined && isKept) problems.add(`the content of row ${seq} is gone`, seq, id);
  if (content === undefined) return;
  if (!isKept) problems.add(`row ${seq} has a content that was not kept with it`, seq, id);
  else if (createHash('sha256').update(content).digest('hex') !== wanted)
    problems.add(`the content of row ${seq} was changed`, seq, id);
}

/** Rows up to one were removed, as a row tells. */
interface PruneNote {
  readonly through: number;
  readonly hash: string;
}

function readPruneNote(
  { seq }: KeptRow,
  members: Readonly<Record<string, unknown>> | undefined,
): PruneNote | undefined {
  if (members?.['kind'] !== 'prune') return undefined;
  const { through, hash } = members;
  const isFit = typeof through === 'number' && through < seq && typeof hash === 'string';
  return isFit ? { through, hash } : undefined;
}

/** The removal that explains why the first row is not row 1. */
function checkBeginning(
  chain: string,
  first: KeptRow,
  note: PruneNote | undefined,
  problems: Problems,
): PruneNote | undefined {
  if (first.seq <= 1 && note !== undefined)
    problems.add(`rows up to ${note.through} were removed, and are there again`, first.seq);
  if (first.seq <= 1) return undefined;
  if (note?.through !== first.seq - 1) {
    problems.add(`${missing(1, first.seq - 1)}, and no row says that they were removed`, first.seq);
    return undefined;
  }
  checkHash(chain, first, note.hash, problems, idOf(membersOf(first.body)));
  return note;
}

function missing(from: number, to: number): string {
  return from === to ? `row ${from} is missing` : `rows ${from} to ${to} are missing`;
}

/** The id of the call, if the row is that of one. */
function idOf(members: Readonly<Record<string, unknown>> | undefined): string | null {
  const id = members?.['id'];
  return typeof id === 'string' ? id : null;
}
