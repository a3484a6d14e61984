import type { KeyObject } from 'node:crypto';
import { type Head, isSigned, type Tip } from '../head.ts';
import type { Problems } from './report.ts';
import type { Walked } from './walk.ts';

/** Compares heads that were kept elsewhere with the rows of a chain. */
export interface HeadComparison {
  /** Told of each row that is there. */
  readonly onHash: (seq: number, hash: string) => void;
  /** After the last row: how many heads were compared, and how many are of rows that were removed since. */
  end(walked: Walked): { readonly compared: number; readonly pruned: number };
}

/** Checks what the heads say of themselves, and prepares to compare them. */
export function compareHeads(
  heads: readonly Head[],
  chain: string,
  publicKeys: readonly KeyObject[],
  problems: Problems,
): HeadComparison {
  for (const head of heads) checkHead(head, chain, publicKeys, problems);
  const own = heads.filter((head) => head.chain === chain);
  const bySeq = Map.groupBy(own, ({ seq }) => seq);
  const compare = (seq: number, hash: string) => {
    for (const head of bySeq.get(seq) ?? []) {
      if (head.hash !== hash) problems.add(`row ${seq} is not the one that ${named(head)} has signed`, seq);
    }
    bySeq.delete(seq);
  };
  return {
    onHash: compare,
    end: ({ last, pruned, prunedHash }) => {
      if (pruned > 0) compare(pruned, prunedHash);
      const gone = [...bySeq.values()].flat().filter(({ seq }) => seq > (last ?? 0));
      for (const head of gone)
        problems.add(
          `rows after ${last ?? 0} are missing: there was a row ${head.seq}, says ${named(head)}`,
          head.seq,
        );
      const removed = [...bySeq.keys()].filter((seq) => seq < pruned);
      return { compared: heads.length, pruned: removed.length };
    },
  };
}

function checkHead(head: Head, chain: string, publicKeys: readonly KeyObject[], problems: Problems): void {
  if (!isSigned(head, publicKeys)) problems.add(`${named(head)} is not signed with this key`);
  if (head.chain !== chain)
    problems.add(`${named(head)} is that of another audit: this is not the chain that it was`);
}

/** Finds heads of chains that are not there. */
export function strangeHeads(
  heads: readonly Head[],
  chains: ReadonlySet<string>,
  publicKeys: readonly KeyObject[],
  problems: Problems,
): void {
  for (const head of heads) if (!chains.has(head.chain)) checkHead(head, '', publicKeys, problems);
}

/** Checks that the database's own head is that of its last row, and signed. */
export function checkTip(
  tip: Head,
  { last, lastHash }: Walked,
  publicKeys: readonly KeyObject[],
  problems: Problems,
): void {
  if (!isSigned(tip, publicKeys))
    problems.add('the head in the database is not signed with this key', tip.seq);
  if (tip.seq > (last ?? 0))
    problems.add(
      `rows after ${last ?? 0} are missing: the head in the database is that of row ${tip.seq}`,
      tip.seq,
    );
  else if (tip.seq !== last || tip.hash !== lastHash)
    problems.add(`the head in the database is not that of row ${last ?? 0}, the last one`, last);
}

function named({ at }: Tip): string {
  const date = new Date(at);
  return `the head of ${Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString()}`;
}
