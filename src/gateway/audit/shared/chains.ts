import { RuntimeError } from '../../../base/errors.ts';
import type { Address } from '../../../store/postgres/connection/address.ts';
import type { Link } from '../../../store/postgres/connection/client.ts';
import { toPostgresError } from '../../../store/postgres/connection/postgres-error.ts';
import type { FunctionCaller } from '../../../store/postgres/function-caller.ts';
import { openLink } from '../../../store/postgres/layout/migrations.ts';
import { numberOf, type Row, readAnswer, textOf } from '../../../store/sqlite/row.ts';
import type { KeptRow } from '../database.ts';
import {
  type AuditKeys,
  type Head,
  isDigestKey,
  keysFrom,
  makeDigestKey,
  makeSigningKey,
  readHead,
  type Tip,
} from '../keys.ts';

/** The stored end of a chain and the fingerprint of the key that signed it. `key` is '' before the first row. */
export interface ChainEnd {
  readonly tip: Tip;
  readonly key: string;
}

export interface Addition {
  readonly tip: Tip;
  readonly bodies: readonly string[];
  readonly hashes: readonly string[];
  readonly contents: readonly (readonly [seq: number, text: string])[];
  readonly removedThrough?: number | undefined;
}

export function nothingBehind(tip: Tip): Addition {
  return { tip, bodies: [], hashes: [], contents: [] };
}

/** The chains of a PostgreSQL database. All methods reject with STORE_FAILED. */
export interface Chains {
  /** Assigns a chain to a writer. Other writers cannot claim it until the writer stops sending heartbeats. */
  claim(writer: string, newId: string): Promise<ChainEnd>;
  /** Returns false and changes nothing if other rows already follow `behind`. */
  append(behind: Tip, addition: Addition, head: Head): Promise<boolean>;
  /** The ends of all chains. With `writer`: only of its own chain and of chains without an active writer. */
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

/**
 * Runs `read` on one snapshot of the database while others write. Rejects with STORE_FAILED and the errors of `read`.
 */
export async function atOneMoment<Result>(
  address: Address,
  read: (link: Link) => Promise<Result>,
): Promise<Result> {
  const link = await openLink(address);
  try {
    await link.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    return await read(link);
  } catch (error) {
    throw toPostgresError(error, address);
  } finally {
    await link.end();
  }
}

/** A chain's ID and its head; the head is undefined if invalid. */
export interface KeptHead {
  readonly chain: string;
  readonly head: Head | undefined;
}

/** Returns heads in the order in which their chains began. Rejects with FILE_UNREADABLE if there is no audit. */
export async function readHeads(link: Link, location: string): Promise<KeptHead[]> {
  const rows = await link.query({
    text: 'SELECT id AS chain, seq, hash, at, key, signature FROM signalbox.gateway_chains ORDER BY number',
  });
  if (rows.length === 0) {
    throw new RuntimeError('FILE_UNREADABLE', `there is no audit in ${location}`, {
      hint: 'Set spec.gateway.audit to record one.',
    });
  }
  return rows.map((row) => ({ chain: String(row['chain']), head: readHead(JSON.stringify(row)) }));
}

export async function* readChain(link: Link, chain: string): AsyncGenerator<KeptRow> {
  for (let behind = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await link.query({ name: 'audit_rows', text: page, values: [chain, behind, PAGE] });
    for (const { seq, body, hash, content } of rows) {
      behind = Number(seq);
      const kept = { seq: behind, body: Buffer.from(String(body)), hash: String(hash) };
      yield { ...kept, content: typeof content === 'string' ? Buffer.from(content) : undefined };
    }
    if (rows.length < PAGE) return;
  }
}

const page = `SELECT r.seq, r.body, r.hash, c.text AS content FROM signalbox.gateway_audit_rows AS r
  LEFT JOIN signalbox.gateway_audit_contents AS c ON c.chain = r.chain AND c.seq = r.seq
  WHERE r.chain = $1 AND r.seq > $2 ORDER BY r.seq LIMIT $3`;
const PAGE = 500;

const names = { signing: 'audit signing', public: 'audit public', digest: 'audit digest' } as const;

/** Creates missing keys. `given` replaces the signing key. Rejects with STORE_FAILED. */
export async function loadSharedKeys(caller: FunctionCaller, given: string | undefined): Promise<AuditKeys> {
  const keep = async (name: string, value: string) =>
    String(await caller.call({ name: 'gateway_own_key', values: [name, value], order: name }));
  const digest = (await keep(names.digest, makeDigestKey())).trim();
  if (!isDigestKey(digest))
    throw new RuntimeError('STORE_FAILED', `the key of digests in ${caller.location} is not 32 bytes in hex`);
  const keys = keysFrom(given ?? (await keep(names.signing, makeSigningKey())), digest);
  if (given === undefined) await keep(names.public, keys.public);
  return keys;
}

/** Returns undefined if there is no such key. Rejects with STORE_FAILED. */
export async function findSharedKey(address: Address, kind: keyof typeof names): Promise<string | undefined> {
  return await atOneMoment(address, async (link) => {
    const text = 'SELECT value FROM signalbox.gateway_own_keys WHERE name = $1';
    const [row] = await link.query({ text, values: [names[kind]] });
    return row && String(row['value']);
  });
}
