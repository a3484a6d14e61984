import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fingerprintOf, type Head, signTip } from '../../src/gateway/audit/keys.ts';
import { hashLink, noHash } from '../../src/gateway/audit/row.ts';
import { type AuditReport, verifyAudit } from '../../src/gateway/audit/verify.ts';
import { makeAuditFolder } from './audit-log.ts';

export interface Evidence {
  readonly folder: string;
  readonly publicKey: KeyObject;
}

export function evidenceIn(folder: string): Evidence {
  return { folder, publicKey: createPublicKey(readFileSync(join(folder, 'audit.pub'), 'utf8')) };
}

export async function verifyAfter(
  { folder, publicKey }: Evidence,
  tamper: (database: DatabaseSync) => void,
  heads: readonly Head[] = [],
): Promise<AuditReport> {
  const file = join(makeAuditFolder(), 'audit.db');
  copyFileSync(join(folder, 'audit.db'), file);
  const database = new DatabaseSync(file);
  tamper(database);
  database.close();
  const signal = new AbortController().signal;
  return await verifyAudit({ file, publicKeys: [publicKey], heads, signal, onProgress: () => {} });
}

export async function verifyBytes(
  { folder, publicKey }: Evidence,
  tamper: (bytes: Buffer) => void,
): Promise<AuditReport> {
  const file = join(makeAuditFolder(), 'audit.db');
  const bytes = readFileSync(join(folder, 'audit.db'));
  tamper(bytes);
  writeFileSync(file, bytes);
  const signal = new AbortController().signal;
  return await verifyAudit({ file, publicKeys: [publicKey], heads: [], signal, onProgress: () => {} });
}

export interface StoredRow {
  readonly seq: number;
  readonly body: string;
  readonly hash: string;
}

export function rowsOf(database: DatabaseSync): StoredRow[] {
  const rows = database.prepare('SELECT seq, body, hash FROM rows ORDER BY seq').all();
  return rows.map(({ seq, body, hash }) => ({ seq: Number(seq), body: String(body), hash: String(hash) }));
}

/** Replaces all rows, with matching hashes and a matching head: an attack without the key. */
export function rechain(
  database: DatabaseSync,
  bodies: readonly string[],
  first = 1,
  previous = noHash,
): void {
  const chain = String(database.prepare('SELECT id FROM chain').get()?.['id']);
  database.exec('PRAGMA foreign_keys = OFF; DELETE FROM rows');
  let hash = previous;
  for (const [at, body] of bodies.entries()) {
    hash = hashLink({ chain, seq: first + at, previous: hash, body });
    database.prepare('INSERT INTO rows (seq, body, hash) VALUES (?, ?, ?)').run(first + at, body, hash);
  }
  database.prepare('UPDATE chain SET seq = ?, hash = ?').run(first + bodies.length - 1, hash);
}

export function resign(database: DatabaseSync, privateKey = generateKeyPairSync('ed25519').privateKey): void {
  const row = database.prepare('SELECT id, seq, hash, at FROM chain').get() ?? {};
  const tip = {
    chain: String(row['id']),
    seq: Number(row['seq']),
    hash: String(row['hash']),
    at: Number(row['at']),
  };
  const { key, signature } = signTip(tip, privateKey, fingerprintOf(privateKey));
  database.prepare('UPDATE chain SET key = ?, signature = ?').run(key, signature);
}
