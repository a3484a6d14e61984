import type { Address } from '../../../store/postgres/connection/address.ts';
import type { Link } from '../../../store/postgres/connection/client.ts';
import { toPostgresError } from '../../../store/postgres/connection/postgres-error.ts';
import { openLink } from '../../../store/postgres/layout/migrations.ts';
import { formatHead } from '../head.ts';
import { type CallFilter, type KeptCall, type KeptRows, readContent, toCall } from '../kept-rows.ts';
import { readHeads } from './read-chains.ts';

/** Opens the audit of all replicas to read it. Rejects with FILE_UNREADABLE where there is none, and STORE_FAILED. */
export async function openSharedRows(address: Address): Promise<KeptRows> {
  const link = await openLink(address);
  const query = async (text: string, values: readonly unknown[]) => {
    try {
      return await link.query({ text, values });
    } catch (error) {
      throw toPostgresError(error, address);
    }
  };
  const calls = async (text: string, values: readonly unknown[]): Promise<KeptCall[]> =>
    (await query(text, values)).flatMap((row) => toCall(row) ?? []);
  try {
    await readHeads(link, address.location);
  } catch (error) {
    await link.end();
    throw toPostgresError(error, address);
  }
  return {
    list: async ({ key, model, outcome, since, digest, limit }: CallFilter) =>
      await calls(listing, [...[key, model, outcome, since, digest].map((each) => each ?? null), limit]),
    find: async (id, most) => {
      const exact = await calls(exactly, [id, most]);
      return exact.length > 0 ? exact : await calls(beginning, [id, most]);
    },
    contentOf: async ({ chain, seq }) => {
      const [row] = await query(content, [chain ?? '', seq]);
      return readContent(row?.['text']);
    },
    heads: async () => await headsOf(link, address),
    close: link.end,
  };
}

async function headsOf(link: Link, address: Address): Promise<string[]> {
  return (await readHeads(link, address.location)).flatMap(({ head }) =>
    head === undefined || head.signature === '' ? [] : [formatHead(head)],
  );
}

/** A null among the filters lets everything pass. */
const listing = `
  SELECT chain, seq, body, hash FROM signalbox.gateway_audit_rows
  WHERE kind = 'call'
    AND ($1::text IS NULL OR body::json ->> 'key_id' = $1 OR body::json ->> 'caller' = $1)
    AND ($2::text IS NULL OR body::json ->> 'model' = $2)
    AND ($3::text IS NULL OR body::json ->> 'outcome' = $3)
    AND ($4::bigint IS NULL OR at >= $4)
    AND ($5::text IS NULL OR body::json ->> 'request_digest' = $5 OR body::json ->> 'answer_digest' = $5)
  ORDER BY at DESC, chain, seq DESC LIMIT $6`;

const exactly = `SELECT chain, seq, body, hash FROM signalbox.gateway_audit_rows WHERE id = $1
  ORDER BY at DESC, seq DESC LIMIT $2`;
const beginning = `SELECT chain, seq, body, hash FROM signalbox.gateway_audit_rows
  WHERE id >= $1 AND starts_with(id, $1) ORDER BY id LIMIT $2`;
const content = 'SELECT text FROM signalbox.gateway_audit_contents WHERE chain = $1 AND seq = $2';
