import { RuntimeError } from '../../../base/errors.ts';
import type { Address } from '../../../store/postgres/connection/address.ts';
import type { Link } from '../../../store/postgres/connection/client.ts';
import { toPostgresError } from '../../../store/postgres/connection/postgres-error.ts';
import { openLink } from '../../../store/postgres/layout/migrations.ts';
import { type Head, readHead } from '../head.ts';
import type { KeptRow } from '../verify/read-rows.ts';

/** Reads chains at one moment, beside whoever writes to them. Rejects with STORE_FAILED, and what `read` rejects with. */
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

/** The id of a chain, and its head; undefined for what is none. */
export interface KeptHead {
  readonly chain: string;
  readonly head: Head | undefined;
}

/** In the order in which they began. Rejects with FILE_UNREADABLE where there is none. */
export async function readHeads(link: Link, location: string): Promise<KeptHead[]> {
  const rows = await link.query({
    text: 'SELECT id AS chain, seq, hash, at, key, signature FROM signalbox.gateway_chains ORDER BY number',
  });
  if (rows.length === 0) {
    throw new RuntimeError('FILE_UNREADABLE', `there is no audit in ${location}`, {
      hint: 'spec.gateway.audit keeps one.',
    });
  }
  return rows.map((row) => ({ chain: String(row['chain']), head: readHead(JSON.stringify(row)) }));
}

/** All rows of a chain in order, of which a few are in memory at a time. */
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
/** Contents may be large. */
const PAGE = 500;
