import { setImmediate as nextTurn } from 'node:timers/promises';
import { RuntimeError } from '../../../base/errors.ts';
import type { Address } from '../../../store/postgres/connection/address.ts';
import type { Link } from '../../../store/postgres/connection/client.ts';
import { checkTip, compareHeads, strangeHeads } from '../verify/heads.ts';
import { type AuditReport, type ChainReport, createProblems, type Problems } from '../verify/report.ts';
import type { VerifyOptions } from '../verify/verify.ts';
import { startWalk } from '../verify/walk.ts';
import { atOneMoment, type KeptHead, readChain, readHeads } from './read-chains.ts';

/** Reads all chains as they are at this moment. Rejects with STORE_FAILED, FILE_UNREADABLE and ABORTED. */
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
  if (head === undefined) problems.add('the head in the database is none');
  const own = heads.filter((each) => each.chain === chain);
  const comparison = compareHeads(own, chain, publicKeys, problems);
  const walk = startWalk(chain, problems, comparison.onHash);
  let rows = 0;
  for await (const row of readChain(link, chain)) {
    walk.step(row);
    rows += 1;
    if (rows % ROWS_PER_TURN !== 0) continue;
    onProgress(rows, rows);
    await nextTurn();
    if (signal.aborted) throw new RuntimeError('ABORTED', 'the verification was given up');
  }
  const walked = walk.end();
  // A chain that was begun by somebody who ended in the middle has no row yet.
  const isEmpty = head?.seq === 0 && head.signature === '' && walked.rows === 0;
  if (head !== undefined && !isEmpty) checkTip(head, walked, publicKeys, problems);
  return {
    ...{ chain, rows: walked.rows, first: walked.first, last: walked.last, pruned: walked.pruned },
    ...{ heads: comparison.end(walked), problems: problems.kept },
  };
}

const ROWS_PER_TURN = 2000;

/** Finds what could show readers something else than what is kept. */
async function checkCatalog(link: Link, problems: Problems): Promise<void> {
  for (const { what } of await link.query({ text: strangeParts }))
    problems.add(`the database has ${String(what)}, which no audit has`);
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
    problems.add(`there are rows of the chain ${String(chain)}, which has no head`);
  for (const { chain, seq } of await link.query({ text: strayContents }))
    problems.add(`there is a content of row ${String(seq)} of chain ${String(chain)}, which is not there`);
}

const strayRows = `SELECT DISTINCT chain FROM signalbox.gateway_audit_rows AS r
  WHERE NOT EXISTS (SELECT 1 FROM signalbox.gateway_chains WHERE id = r.chain) LIMIT 5`;
const strayContents = `SELECT chain, seq FROM signalbox.gateway_audit_contents AS c
  WHERE NOT EXISTS (SELECT 1 FROM signalbox.gateway_audit_rows AS r WHERE r.chain = c.chain AND r.seq = c.seq) LIMIT 5`;
