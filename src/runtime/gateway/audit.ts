import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { whyUnreadable } from '../../base/files/file-error.ts';
import type { StateStoreConfig } from '../../config/config.ts';
import { environmentOf } from '../../config/environment/read.ts';
import { loadConfig, requireConfig } from '../../config/load.ts';
import type { AuditedCall } from '../../contract/decision.ts';
import { auditFile } from '../../gateway/audit/audit-log.ts';
import {
  type CallFilter,
  type KeptCall,
  type KeptRows,
  keyedDigest,
  openKeptRows,
} from '../../gateway/audit/kept-rows.ts';
import { type Head, keyFiles, readHead, readPublicKeys } from '../../gateway/audit/keys.ts';
import {
  type AuditReport,
  type VerifyOptions,
  verifyAudit as verifyFile,
} from '../../gateway/audit/verify.ts';
import { pruneAudit as pruneFile } from '../../gateway/audit/writer.ts';
import type { Address } from '../../store/postgres/connection/address.ts';
import { unusableStoreError } from '../../store/store-rules.ts';
import type { Runtime } from '../api.ts';
import { readPageSize, requireTexts, timeOf, unknownPage } from '../cursor.ts';

export type { KeptCall } from '../../gateway/audit/kept-rows.ts';
export type { AuditReport } from '../../gateway/audit/verify.ts';
export { readPublicKeys };

type Env = Readonly<Record<string, string | undefined>>;

export interface LocatedAudit {
  readonly file: string;
  readonly address: Address | undefined;
  readonly signingKey: string | undefined;
}

export function auditIn(file: string): LocatedAudit {
  return { file, address: undefined, signingKey: undefined };
}

/**
 * Finds the audit of a config file; without such a file, that of the default state store beside it. Throws
 * CONFIG_INVALID, USAGE for a store in memory, STORE_FAILED.
 */
export async function locateAudit(
  config: string,
  env: Env,
  overlays: readonly string[] = [],
): Promise<LocatedAudit> {
  if (!existsSync(config)) {
    const file = join(dirname(resolve(config)), '.signalbox', auditFile);
    if (existsSync(file)) return auditIn(file);
  }
  const searchPath = env['PATH'] ?? '';
  const read = { env, overlays };
  const loaded = loadConfig(config, searchPath, read).config ?? requireConfig(config, searchPath, read);
  const { stateStore, gateway } = loaded;
  const host = environmentOf(loaded, env);
  const located = await auditOf(stateStore, host);
  if (located === undefined)
    throw new RuntimeError('USAGE', `the audit of ${config} is in memory, and ends with its server`);
  return { ...located, signingKey: signingKeyOf(gateway.audit?.keyEnv, host) };
}

/** Undefined for a store in memory. Throws STORE_FAILED. */
async function auditOf(store: StateStoreConfig, env: Env): Promise<LocatedAudit | undefined> {
  switch (store.type) {
    case 'memory':
      return undefined;
    case 'refused':
      throw unusableStoreError(store.reason);
    case 'sqlite':
      return auditIn(join(dirname(store.file), auditFile));
    case 'postgres': {
      const { readAddress } = await import('../../store/postgres/connection/address.ts');
      const address = readAddress(store.urlEnv, env);
      return { ...auditIn(address.location), address };
    }
  }
}

/** The method throws USAGE, STORE_FAILED. */
export function openAuditApi(store: StateStoreConfig, env: Env): Runtime['audit'] {
  return {
    page: async ({ key, model, outcome, since, limit, after } = {}) => {
      const most = readPageSize(limit);
      requireTexts({ key, model, outcome });
      const wanted = { key, model, outcome, since: timeOf('since', since), after: readPlace(after) };
      const found = await listCalls(await auditOf(store, env), { ...wanted, limit: most + 1 });
      const calls = found.slice(0, most);
      const last = found.length > most ? calls.at(-1) : undefined;
      return { calls: calls.map(toAuditedCall), ...(last && { next: writePlace(last) }) };
    },
  };
}

async function listCalls(audit: LocatedAudit | undefined, filter: CallFilter): Promise<KeptCall[]> {
  if (audit === undefined) return [];
  try {
    const rows = await openAuditRows(audit);
    try {
      return await rows.list(filter);
    } finally {
      await rows.close();
    }
  } catch (error) {
    // Nothing was recorded yet.
    if (toRuntimeError(error).code === 'FILE_UNREADABLE') return [];
    throw error;
  }
}

export function toAuditedCall({ at, ...call }: KeptCall): AuditedCall {
  const date = new Date(at);
  return { at: Number.isNaN(date.getTime()) ? String(at) : date.toISOString(), ...call };
}

/** The order of the list is that of these members, so the place of a row never changes. */
function writePlace({ at, chain = '', seq }: KeptCall): string {
  return Buffer.from(JSON.stringify([at, chain, seq])).toString('base64url');
}

/** Throws USAGE. */
function readPlace(after: string | undefined): CallFilter['after'] {
  if (after === undefined) return undefined;
  try {
    const place: unknown = JSON.parse(Buffer.from(String(after), 'base64url').toString());
    const [at, chain, seq] = Array.isArray(place) ? place : [];
    if (Number.isSafeInteger(at) && typeof chain === 'string' && Number.isSafeInteger(seq))
      return { at, chain, seq };
  } catch {}
  throw unknownPage(after);
}

/** Opens an audit for reading. Throws FILE_UNREADABLE if there is none, and STORE_FAILED. */
export async function openAuditRows({ file, address }: LocatedAudit): Promise<KeptRows> {
  if (address === undefined) return openKeptRows(file);
  const { openSharedRows } = await import('../../gateway/audit/shared/read.ts');
  return await openSharedRows(address);
}

export async function verifyAudit(
  { file, address }: LocatedAudit,
  options: Omit<VerifyOptions, 'file'>,
): Promise<AuditReport> {
  if (address === undefined) return await verifyFile({ file, ...options });
  const { verifyChains } = await import('../../gateway/audit/shared/read.ts');
  return await verifyChains(address, options);
}

/**
 * Removes the first rows of an audit that are older than a time (ms since 1970). Returns their number. Throws
 * FILE_UNREADABLE and STORE_FAILED.
 */
export async function pruneAudit(
  { file, address, signingKey }: LocatedAudit,
  before: number,
): Promise<number> {
  if (address === undefined) return await pruneFile({ file, signingKey, before });
  const { pruneShared } = await import('../../gateway/audit/shared/writer.ts');
  return await pruneShared(address, { signingKey, before });
}

/** Throws STORE_FAILED if the variable is not set. */
export function signingKeyOf(name: string | undefined, env: Env): string | undefined {
  if (name === undefined) return undefined;
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new RuntimeError('STORE_FAILED', `spec.gateway.audit.key_env: ${name} is not set`, {
    hint: `Set ${name} to a private Ed25519 key in PEM.`,
  });
}

/**
 * The text of the public key in the file; default: the file beside the audit. Throws USAGE, FILE_UNREADABLE and
 * STORE_FAILED.
 */
export async function readPublicKeyOf(audit: LocatedAudit, file: string | undefined): Promise<string> {
  if (file !== undefined) return readText(file);
  const beside = join(dirname(audit.file), keyFiles.public);
  const kept =
    audit.address === undefined ? existsSync(beside) : await findSharedKey(audit.address, 'public');
  if (typeof kept === 'string') return kept;
  if (kept === true) return readText(beside);
  throw new RuntimeError('USAGE', `there is no public key beside ${audit.file}`, {
    hint: 'Give the public key that belongs to the signing key of the audit: --public-key FILE.',
  });
}

async function findSharedKey(address: Address, kind: 'public' | 'digest'): Promise<string | undefined> {
  const shared = await import('../../gateway/audit/shared/chains.ts');
  return await shared.findSharedKey(address, kind);
}

/** The heads in a file, one per line. Throws USAGE for an invalid line, and FILE_UNREADABLE. */
export function readHeadFile(file: string): Head[] {
  const lines = readText(file).split('\n');
  const heads = lines.flatMap((line, at) => {
    if (line.trim() === '') return [];
    return readHead(line) ?? throwUsage(`--head: line ${at + 1} of ${file} is not a head of an audit`);
  });
  return heads.length > 0 ? heads : throwUsage(`--head: ${file} has no head of an audit`);
}

/** Throws FILE_UNREADABLE, and STORE_FAILED without the key of the audit. */
export async function digestOfFile(audit: LocatedAudit, file: string): Promise<string> {
  const key =
    audit.address === undefined
      ? readText(join(dirname(audit.file), keyFiles.digest)).trim()
      : ((await findSharedKey(audit.address, 'digest')) ?? '').trim();
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    throw unreadable(file, error);
  }
  return keyedDigest(key, hash.digest('hex'));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, cause: unknown): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, { cause });
}

function throwUsage(message: string): never {
  throw new RuntimeError('USAGE', message);
}
