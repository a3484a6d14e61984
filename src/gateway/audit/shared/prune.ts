import type { Address } from '../../../store/postgres/connection/address.ts';
import { toPostgresError } from '../../../store/postgres/connection/postgres-error.ts';
import { openFunctionCaller } from '../../../store/postgres/function-caller.ts';
import type { Tip } from '../head.ts';
import { findOld, MOST_PRUNED } from '../old-rows.ts';
import type { AuditRow } from '../row.ts';
import { createRowMaker, type RowMaker } from '../row-maker.ts';
import { type Addition, type ChainEnd, type Chains, openChains } from './chains.ts';
import { loadSharedKeys } from './keys.ts';

/** Which rows go. */
interface PruneChains {
  /** Those that are older; milliseconds since 1970. */
  readonly before: number;
  /** Only those of its chain, and of chains that nobody writes to; undefined: of all. */
  readonly writer?: string | undefined;
}

/** Removes the first rows of all chains as far as they are older, and tells how many. Rejects with STORE_FAILED. */
export async function pruneShared(
  address: Address,
  { signingKey, before }: { readonly signingKey: string | undefined; readonly before: number },
): Promise<number> {
  const caller = await openFunctionCaller(address);
  try {
    const chains = openChains(caller, HUNG_MS);
    const maker = createRowMaker(await loadSharedKeys(caller, signingKey));
    let removed = 0;
    for (let isPartial = true; isPartial; ) {
      const pruned = await pruneChains(chains, maker, { before });
      removed += pruned.removed;
      ({ isPartial } = pruned);
    }
    return removed;
  } catch (error) {
    throw toPostgresError(error, address);
  } finally {
    await caller.close();
  }
}

const HUNG_MS = 30_000;

/** Removes some of the first rows of each chain, as far as they are older, and says so in the chain. Rejects with STORE_FAILED. */
export async function pruneChains(
  chains: Chains,
  maker: RowMaker,
  { before, writer }: PruneChains,
): Promise<{ readonly removed: number; readonly isPartial: boolean }> {
  let removed = 0;
  let isPartial = false;
  for (const end of await chains.ends(writer)) {
    const pruned = await pruneChain(chains, maker, { end, before });
    removed += pruned.removed;
    isPartial ||= pruned.isPartial;
  }
  return { removed, isPartial };
}

async function pruneChain(
  chains: Chains,
  maker: RowMaker,
  { end: { tip, key }, before }: { readonly end: ChainEnd; readonly before: number },
): Promise<{ readonly removed: number; readonly isPartial: boolean }> {
  const oldest = await chains.oldest(tip.chain, MOST_PRUNED);
  const { through, hash, removed, isPartial } = findOld(oldest, tip, before);
  if (removed === 0) return { removed, isPartial: false };
  const at = Date.now();
  const rows = [
    ...(key === maker.key ? [] : [maker.introduction(tip)]),
    { kind: 'prune' as const, at, through, hash, removed },
  ];
  const addition = addRows(
    tip,
    rows.map((row) => ({ row, content: undefined })),
    maker,
  );
  const isDone = await chains.append(tip, { ...addition, removedThrough: through }, maker.sign(addition.tip));
  // Its writer was faster: what is old is still old the next time.
  return isDone ? { removed, isPartial } : { removed: 0, isPartial: true };
}

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
