import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { loadConfig, requireConfig } from '../../config/load.ts';
import { RuntimeError } from '../../errors.ts';
import { whyUnreadable } from '../../files/file-error.ts';
import { auditFile } from '../../gateway/audit/audit-log.ts';
import { type Head, readHead } from '../../gateway/audit/head.ts';
import { keyedDigest, openKeptRows } from '../../gateway/audit/kept-rows.ts';
import { keyFiles, readPublicKeys } from '../../gateway/audit/keys.ts';
import { pruneAudit } from '../../gateway/audit/prune.ts';
import { verifyAudit } from '../../gateway/audit/verify/verify.ts';
import { notInPostgresError, unusableStoreError } from '../../store/store-rules.ts';

export type { KeptCall } from '../../gateway/audit/kept-rows.ts';
export type { AuditReport } from '../../gateway/audit/verify/report.ts';
export { openKeptRows, pruneAudit, readPublicKeys, verifyAudit };

type Env = Readonly<Record<string, string | undefined>>;

/** The audit that a config keeps, and the key that signs it, if the config names one. */
export interface LocatedAudit {
  readonly file: string;
  readonly signingKey: string | undefined;
}

/**
 * The audit of a config file; without such a file that of the usual state store beside it. Throws CONFIG_INVALID, USAGE for a
 * store in memory, STORE_FAILED.
 */
export function locateAudit(config: string, env: Env): LocatedAudit {
  if (!existsSync(config)) {
    const file = join(dirname(resolve(config)), '.signalbox', auditFile);
    if (existsSync(file)) return { file, signingKey: undefined };
  }
  const searchPath = env['PATH'] ?? '';
  const { stateStore, gateway } = loadConfig(config, searchPath).config ?? requireConfig(config, searchPath);
  if (stateStore.type === 'refused') throw unusableStoreError(stateStore.reason);
  if (stateStore.type === 'postgres') throw notInPostgresError('rows of an audit');
  if (stateStore.type === 'memory')
    throw new RuntimeError('USAGE', `the audit of ${config} is in memory, and ends with its server`);
  return {
    file: join(dirname(stateStore.file), auditFile),
    signingKey: signingKeyOf(gateway.audit?.keyEnv, env),
  };
}

/** The value of the variable that a config names. Throws STORE_FAILED where it has none. */
export function signingKeyOf(name: string | undefined, env: Env): string | undefined {
  if (name === undefined) return undefined;
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new RuntimeError('STORE_FAILED', `spec.gateway.audit.key_env: ${name} is not set`, {
    hint: `Set ${name} to a private Ed25519 key in PEM.`,
  });
}

/** The text of the public key in a file, by default of the one beside the audit. Throws USAGE and FILE_UNREADABLE. */
export function readPublicKeyFile(audit: string, file: string | undefined): string {
  const beside = join(dirname(audit), keyFiles.public);
  if (file === undefined && !existsSync(beside)) {
    throw new RuntimeError('USAGE', `there is no public key beside ${audit}`, {
      hint: 'Give the one that belongs to the key of the audit: --public-key FILE.',
    });
  }
  return readText(file ?? beside);
}

/** The heads in a file, one a line. Throws USAGE for a line that is none, and FILE_UNREADABLE. */
export function readHeadFile(file: string): Head[] {
  const lines = readText(file).split('\n');
  const heads = lines.flatMap((line, at) => {
    if (line.trim() === '') return [];
    return readHead(line) ?? throwUsage(`--head: line ${at + 1} of ${file} is no head of an audit`);
  });
  return heads.length > 0 ? heads : throwUsage(`--head: ${file} has no head of an audit`);
}

/** The digest of a file's bytes, as the rows of an audit have it. Throws FILE_UNREADABLE, and STORE_FAILED without its key. */
export async function digestOfFile(audit: string, file: string): Promise<string> {
  const key = readText(join(dirname(audit), keyFiles.digest)).trim();
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
