import type { FunctionCaller } from '../../../store/postgres/function-caller.ts';
import { numberOf, type Row, readAnswer, textOf } from '../../../store/sqlite/row.ts';
import type { Head, Tip } from '../head.ts';

/** The end of a chain as it is kept, and the fingerprint of the key that signed it; '' before the first row. */
export interface ChainEnd {
  readonly tip: Tip;
  readonly key: string;
}

/** Rows that are to be put behind a tip. */
export interface Addition {
  /** Of the last one of them. */
  readonly tip: Tip;
  readonly bodies: readonly string[];
  readonly hashes: readonly string[];
  /** The bodies of calls, by the number of their row. */
  readonly contents: readonly (readonly [seq: number, text: string])[];
  /** Rows up to this one are removed. */
  readonly removedThrough?: number | undefined;
}

export function nothingBehind(tip: Tip): Addition {
  return { tip, bodies: [], hashes: [], contents: [] };
}

/** Chains that are kept in a database. Methods reject with STORE_FAILED. */
export interface Chains {
  /** The chain of a writer, which is from now on nobody else's while the writer is heard of. */
  claim(writer: string, newId: string): Promise<ChainEnd>;
  /** False: other rows are behind the tip by now, and nothing was done. */
  append(behind: Tip, addition: Addition, head: Head): Promise<boolean>;
  /** The ends of all chains; with `writer` of its own and of those that nobody writes to. */
  ends(writer?: string): Promise<ChainEnd[]>;
  /** The first rows of a chain: `seq`, `hash`, `kind`, `at`. */
  oldest(chain: string, most: number): Promise<Row[]>;
  see(writer: string): Promise<void>;
  leave(writer: string): Promise<void>;
}

export function openChains(caller: FunctionCaller, hungMs: number): Chains {
  const call = (name: string, values: readonly unknown[]) => caller.call({ name, values, order: '' });
  return {
    claim: async (writer, newId) =>
      toEnd(readAnswer(await call('gateway_claim_chain', [writer, newId, hungMs]))),
    append: async (behind, { bodies, hashes, contents, removedThrough }, { at, key, signature }) => {
      const place = [behind.chain, behind.seq, behind.hash];
      const kept = [contents.map(([seq]) => seq), contents.map(([, text]) => text)];
      const values = [...place, bodies, hashes, ...kept, at, key, signature, removedThrough ?? null];
      return (await call('gateway_append', values)) === true;
    },
    ends: async (writer) => {
      const values = [writer ?? null, hungMs];
      return (await caller.run((link) => link.query({ text: listing, values }))).map(toEnd);
    },
    oldest: async (chain, most) => {
      const text =
        'SELECT seq, hash, kind, at FROM signalbox.gateway_audit_rows WHERE chain = $1 ORDER BY seq LIMIT $2';
      return await caller.run((link) => link.query({ text, values: [chain, most] }));
    },
    see: async (writer) => void (await call('gateway_see_chain', [writer])),
    leave: async (writer) => void (await call('gateway_leave_chain', [writer])),
  };
}

const listing = `SELECT id, seq, hash, at, key FROM signalbox.gateway_chains AS c
  WHERE $1::text IS NULL OR writer = $1 OR writer IS NULL OR seen_at < clock_timestamp() - $2::bigint * interval '1 ms'
    OR NOT EXISTS (SELECT 1 FROM pg_stat_activity AS a WHERE a.pid = c.pid AND a.backend_start = c.backend_start)
  ORDER BY number`;

function toEnd(row: Row): ChainEnd {
  const tip = { chain: textOf(row, 'id'), seq: numberOf(row, 'seq'), hash: textOf(row, 'hash') };
  return { tip: { ...tip, at: numberOf(row, 'at') }, key: textOf(row, 'key') };
}
