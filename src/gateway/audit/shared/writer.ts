import { randomBytes, randomUUID } from 'node:crypto';
import { RuntimeError } from '../../../base/errors.ts';
import type { Address } from '../../../store/postgres/connection/address.ts';
import { toPostgresError } from '../../../store/postgres/connection/postgres-error.ts';
import { openFunctionCaller } from '../../../store/postgres/function-caller.ts';
import { type AuditDone, type AuditWork, findOld, MOST_PRUNED } from '../chain-writer.ts';
import type { Head, Tip } from '../keys.ts';
import { type AuditRow, createRowMaker, type NewCall, type RowMaker } from '../row.ts';
import type { AuditWriter } from '../writer.ts';
import {
  type Addition,
  type ChainEnd,
  type Chains,
  loadSharedKeys,
  nothingBehind,
  openChains,
} from './chains.ts';

export interface SharedWriterOptions {
  /** The private signing key. If undefined, a key is created once for all replicas. */
  readonly signingKey: string | undefined;
  /** A chain is free for other writers if its writer sends no heartbeat for `hungMs`. */
  readonly beatMs?: number | undefined;
  readonly hungMs?: number | undefined;
  readonly retryMs?: number | undefined;
}

/** Claims a chain without an active writer or creates one. Throws STORE_FAILED. */
export async function openSharedWriter(
  address: Address,
  { signingKey, beatMs = 5_000, hungMs = 30_000, retryMs }: SharedWriterOptions,
): Promise<AuditWriter> {
  const caller = await openFunctionCaller(address, { retryMs });
  try {
    const maker = createRowMaker(await loadSharedKeys(caller, signingKey));
    const chains = openChains(caller, hungMs);
    const writer = randomUUID();
    const chain = createOwnChain(chains, maker, writer);
    await chain.put(nothingBehind);
    const beat = setInterval(() => void chains.see(writer).catch(() => {}), beatMs).unref();
    let last: Promise<unknown> = Promise.resolve();
    return {
      work: async (work) => {
        const done = last.then(async () => await doWork(work, { chain, chains, maker, writer }));
        last = done.catch(() => {});
        return await done.catch((error: unknown) => {
          throw toPostgresError(error, address);
        });
      },
      close: async () => {
        clearInterval(beat);
        await last;
        const left = chains.leave(writer).catch(() => {});
        await caller.close();
        await left;
      },
    };
  } catch (error) {
    await caller.close();
    throw toPostgresError(error, address);
  }
}

async function doWork(
  work: AuditWork,
  {
    chain,
    chains,
    maker,
    writer,
  }: { readonly chain: OwnChain; readonly chains: Chains; readonly maker: RowMaker; readonly writer: string },
): Promise<AuditDone> {
  switch (work.what) {
    case 'append': {
      let head: Head | undefined;
      for (const calls of inPieces(work.calls)) head = await chain.put((tip) => addCalls(tip, calls, maker));
      return { head: head ?? (await chain.put(nothingBehind)), isPartial: false, removed: 0 };
    }
    case 'prune': {
      const pruned = await pruneChains(chains, maker, { before: work.before, writer });
      chain.forget();
      return { ...pruned, head: await chain.put(nothingBehind) };
    }
    case 'touch':
      return { head: await chain.put(nothingBehind), isPartial: false, removed: 0 };
  }
}

interface OwnChain {
  put(make: (tip: Tip) => Addition): Promise<Head>;
  forget(): void;
}

function createOwnChain(chains: Chains, maker: RowMaker, writer: string): OwnChain {
  let end: ChainEnd | undefined;
  const append = async ({ tip }: ChainEnd, addition: Addition): Promise<Head | undefined> => {
    const head = maker.sign(addition.tip);
    // If the append fails, the end of the chain is unknown.
    end = undefined;
    if (!(await chains.append(tip, addition, head))) return undefined;
    end = { tip: addition.tip, key: maker.key };
    return head;
  };
  return {
    put: async (make) => {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const at = end ?? (await chains.claim(writer, randomBytes(16).toString('hex')));
        // A new signing key must be introduced by a row first.
        if (at.key === maker.key) {
          const head = await append(at, make(at.tip));
          if (head !== undefined) return head;
        } else await append(at, introduce(at.tip, maker));
      }
      throw new RuntimeError(
        'STORE_FAILED',
        'the audit could not be written, because others wrote to its chain',
      );
    },
    forget: () => {
      end = undefined;
    },
  };
}

/** Another writer may have appended a row or claimed the chain. */
const MOST_TRIES = 10;

function introduce(tip: Tip, maker: RowMaker): Addition {
  return addRows(tip, [{ row: maker.introduction(tip), content: undefined }], maker);
}

function addCalls(tip: Tip, calls: readonly NewCall[], maker: RowMaker): Addition {
  const rows = calls.map((call) => ({ row: maker.callRow(call), content: call.content }));
  return addRows(tip, rows, maker);
}

/** Keeps each statement below the server's size limit. */
function* inPieces(calls: readonly NewCall[]): Generator<readonly NewCall[]> {
  let piece: NewCall[] = [];
  let size = 0;
  for (const call of calls) {
    const length = call.content?.length ?? 0;
    if (piece.length > 0 && size + length > MOST_CHARACTERS) {
      yield piece;
      [piece, size] = [[], 0];
    }
    piece.push(call);
    size += length;
  }
  if (piece.length > 0) yield piece;
}

const MOST_CHARACTERS = 16_000_000;

interface PruneChains {
  /** Removes rows older than this, in milliseconds since 1970. */
  readonly before: number;
  /** Limits pruning to this writer's chain and to chains without an active writer; undefined prunes all chains. */
  readonly writer?: string | undefined;
}

/** Removes the rows older than `before` from all chains and returns their number. Rejects with STORE_FAILED. */
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

async function pruneChains(
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
  return isDone ? { removed, isPartial } : { removed: 0, isPartial: true };
}

interface NewRow {
  readonly row: AuditRow;
  readonly content: string | undefined;
}

function addRows(behind: Tip, rows: readonly NewRow[], maker: RowMaker): Addition {
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
