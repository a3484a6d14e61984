import type { Address } from '../../../store/postgres/connection/address.ts';
import type { Link } from '../../../store/postgres/connection/client.ts';
import { toPostgresError } from '../../../store/postgres/connection/postgres-error.ts';
import { openLink } from '../../../store/postgres/layout/migrations.ts';
import { type CallFilter, type KeptCall, type KeptRows, readContent, toCall } from '../kept-rows.ts';
import { formatHead } from '../keys.ts';
import {
  type AuditReport,
  type ChainReport,
  checkTip,
  createProblems,
  type Problems,
  strangeHeads,
  type VerifyOptions,
  walkChain,
} from '../verify.ts';
import { atOneMoment, type KeptHead, readChain, readHeads } from './chains.ts';

/** Opens the audit of all replicas for reading. Rejects with FILE_UNREADABLE if there is none, and STORE_FAILED. */
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
    list: async ({ key, model, outcome, since, digest, after, limit }: CallFilter) => {
      const given = [key, model, outcome, since, digest, after?.at, after?.chain, after?.seq];
      return await calls(listing, [...given.map((each) => each ?? null), limit]);
    },
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

const listing = `
  SELECT chain, seq, body, hash FROM signalbox.gateway_audit_rows
  WHERE kind = 'call'
    AND ($1::text IS NULL OR body::json ->> 'key_id' = $1 OR body::json ->> 'caller' = $1)
    AND ($2::text IS NULL OR body::json ->> 'model' = $2)
    AND ($3::text IS NULL OR body::json ->> 'outcome' = $3)
    AND ($4::bigint IS NULL OR at >= $4)
    AND ($5::text IS NULL OR body::json ->> 'request_digest' = $5 OR body::json ->> 'answer_digest' = $5)
    AND ($6::bigint IS NULL OR at < $6 OR at = $6 AND (chain > $7 OR chain = $7 AND seq < $8::bigint))
  ORDER BY at DESC, chain, seq DESC LIMIT $9`;

const exactly = `SELECT chain, seq, body, hash FROM signalbox.gateway_audit_rows WHERE id = $1
  ORDER BY at DESC, seq DESC LIMIT $2`;
const beginning = `SELECT chain, seq, body, hash FROM signalbox.gateway_audit_rows
  WHERE id >= $1 AND starts_with(id, $1) ORDER BY id LIMIT $2`;
const content = 'SELECT text FROM signalbox.gateway_audit_contents WHERE chain = $1 AND seq = $2';

/** Verifies all chains in one snapshot. Rejects with STORE_FAILED, FILE_UNREADABLE and ABORTED. */
export async function verifyChains(
  address: Address,
  options: Omit<VerifyOptions, 'file'>,
): Promise<AuditReport> {
  return await atOneMoment(address, async (link) => {
    const kept = await readHeads(link, address.location);
    const problems = createProblems();
    await checkCatalog(link, problems);
    await checkStray(link, problems);
    const known = new Set(kept.map(({ chain }) => chain));
    strangeHeads(options.heads, known, options.publicKeys, problems);
    const all = kept.reduce((sum, { head }) => sum + (head?.seq ?? 0), 0);
    const chains: ChainReport[] = [];
    for (const each of kept) {
      const before = chains.reduce((sum, { rows }) => sum + rows, 0);
      const onProgress = (rows: number) => options.onProgress(before + rows, all);
      chains.push(await verifyChain(link, each, { ...options, onProgress }));
    }
    const found = [...problems.kept, ...chains.flatMap((chain) => chain.problems)];
    const sum = (count: (chain: ChainReport) => number) =>
      chains.reduce((total, chain) => total + count(chain), 0);
    return {
      status: found.length === 0 ? 'good' : 'tampered',
      ...{ chain: null, first: null, last: null, rows: sum(({ rows }) => rows) },
      pruned: sum(({ pruned }) => pruned),
      heads: { compared: options.heads.length, pruned: sum(({ heads }) => heads.pruned) },
      problems: found,
      chains,
    };
  });
}

async function verifyChain(
  link: Link,
  { chain, head }: KeptHead,
  { publicKeys, heads, onProgress, signal }: Omit<VerifyOptions, 'file'>,
): Promise<ChainReport> {
  const problems = createProblems((message) => `chain ${chain}: ${message}`);
  if (head === undefined) problems.add('the head in the database is not valid');
  const own = heads.filter((each) => each.chain === chain);
  const { walked, comparison } = await walkChain(readChain(link, chain), {
    ...{ chain, heads: own, publicKeys, problems, signal },
    onProgress: (rows) => onProgress(rows, rows),
  });
  // A writer that ended before its first row leaves an empty chain.
  const isEmpty = head?.seq === 0 && head.signature === '' && walked.rows === 0;
  if (head !== undefined && !isEmpty) checkTip(head, walked, publicKeys, problems);
  return {
    ...{ chain, rows: walked.rows, first: walked.first, last: walked.last, pruned: walked.pruned },
    ...{ heads: comparison.end(walked), problems: problems.kept },
  };
}

/** Reports catalog changes that could show readers other data than the stored rows. */
async function checkCatalog(link: Link, problems: Problems): Promise<void> {
  for (const { what } of await link.query({ text: strangeParts }))
    problems.add(`the database has ${String(what)}, which does not belong to an audit`);
}

const tables = `('gateway_chains', 'gateway_audit_rows', 'gateway_audit_contents')`;
const strangeParts = `
  WITH t AS (SELECT c.oid, c.relname, c.relkind, c.relrowsecurity FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'signalbox' AND c.relname IN ${tables})
  SELECT 'another kind of ' || relname AS what FROM t WHERE relkind <> 'r' OR relrowsecurity
  UNION ALL SELECT 'a rule on ' || relname FROM t JOIN pg_rewrite ON ev_class = t.oid
  UNION ALL SELECT 'a trigger on ' || relname FROM t JOIN pg_trigger ON tgrelid = t.oid WHERE NOT tgisinternal
  UNION ALL SELECT 'a table that inherits from ' || relname FROM t JOIN pg_inherits ON inhparent = t.oid OR inhrelid = t.oid`;

async function checkStray(link: Link, problems: Problems): Promise<void> {
  for (const { chain } of await link.query({ text: strayRows }))
    problems.add(`there are rows of the chain ${String(chain)}, but it has no head`);
  for (const { chain, seq } of await link.query({ text: strayContents }))
    problems.add(`there is content of row ${String(seq)} of chain ${String(chain)}, but no such row`);
}

const strayRows = `SELECT DISTINCT chain FROM signalbox.gateway_audit_rows AS r
  WHERE NOT EXISTS (SELECT 1 FROM signalbox.gateway_chains WHERE id = r.chain) LIMIT 5`;
const strayContents = `SELECT chain, seq FROM signalbox.gateway_audit_contents AS c
  WHERE NOT EXISTS (SELECT 1 FROM signalbox.gateway_audit_rows AS r WHERE r.chain = c.chain AND r.seq = c.seq) LIMIT 5`;
