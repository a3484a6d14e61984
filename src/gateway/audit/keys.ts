import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { createAtomically, writeDurably } from '../../base/files/new-file.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';

export const keyFiles = { signing: 'audit.key', public: 'audit.pub', digest: 'audit-digest.key' } as const;

export interface AuditKeys {
  /** Private Ed25519 key: PKCS #8 in PEM. */
  readonly signing: string;
  /** Public key: SPKI in PEM. */
  readonly public: string;
  /** Digest key: 32 bytes in hex. */
  readonly digest: string;
}

/** Creates missing keys, readable by the owner only. Throws system errors, and STORE_FAILED for an invalid key. */
export function loadKeys(folder: string, given: string | undefined): AuditKeys {
  makeFolder(folder);
  const digest = readOrMake(join(folder, keyFiles.digest), 0o600, makeDigestKey).trim();
  if (!isDigestKey(digest)) throw unusable(join(folder, keyFiles.digest), 'is not 32 bytes in hex');
  const signingFile = join(folder, keyFiles.signing);
  const signing = given ?? readOrMake(signingFile, 0o600, makeSigningKey);
  const publicKey = publicPem(
    readSigningKey(signing, given === undefined ? signingFile : 'the key of the audit'),
  );
  if (given === undefined) readOrMake(join(folder, keyFiles.public), 0o644, () => publicKey);
  return { signing, public: publicKey, digest };
}

export function makeKeys(given: string | undefined): AuditKeys {
  return keysFrom(given ?? makeSigningKey(), makeDigestKey().trim());
}

/** Throws STORE_FAILED if `signing` is not a private Ed25519 key in PEM. */
export function keysFrom(signing: string, digest: string): AuditKeys {
  return { signing, public: publicPem(readSigningKey(signing, 'the key of the audit')), digest };
}

export function isDigestKey(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** Throws STORE_FAILED unless `pem` holds a private Ed25519 key. */
export function readSigningKey(pem: string, name: string): KeyObject {
  const key = attempt(() => createPrivateKey(pem));
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw unusable(name, 'is not a private Ed25519 key in PEM');
}

/** Reads one or more public keys. Throws STORE_FAILED unless each is an Ed25519 key. */
export function readPublicKeys(pem: string, name: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => attempt(() => createPublicKey(block)));
  const usable = keys.filter((key) => key !== undefined && key.asymmetricKeyType === 'ed25519');
  if (usable.length > 0 && usable.length === keys.length) return usable.filter((key) => key !== undefined);
  throw unusable(name, 'contains no public Ed25519 key in PEM');
}

function publicPem(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}

export function makeSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function makeDigestKey(): string {
  return `${randomBytes(32).toString('hex')}\n`;
}

function readOrMake(file: string, mode: number, make: () => string): string {
  const kept = attempt(() => readFileSync(file, 'utf8'), 'ENOENT');
  if (kept !== undefined) return kept;
  createAtomically(file, (draft) => writeDurably(draft, make(), mode));
  return readFileSync(file, 'utf8');
}

function attempt<Result>(work: () => Result, code?: string): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (code === undefined) return undefined;
    if (error instanceof Error && 'code' in error && error.code === code) return undefined;
    throw error;
  }
}

function unusable(name: string, why: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `${name} ${why}`, {
    hint: 'Create one with `openssl genpkey -algorithm ed25519`. If you provide none, Signalbox creates one.',
  });
}

export interface Tip {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  readonly at: number;
}

export interface Head extends Tip {
  readonly key: string;
  /** Ed25519, in base64. */
  readonly signature: string;
}

export function signTip(tip: Tip, privateKey: KeyObject, key: string): Head {
  return { ...tip, key, signature: sign(null, signedBytes(tip), privateKey).toString('base64') };
}

export function isSigned(head: Head, publicKeys: readonly KeyObject[]): boolean {
  const signature = Buffer.from(head.signature, 'base64');
  return publicKeys.some((key) => verify(null, signedBytes(head), key, signature));
}

/** Unambiguous because no line can contain a line break. */
function signedBytes({ chain, seq, hash, at }: Tip): Buffer {
  return Buffer.from(`signalbox-audit-head/1\n${chain}\n${seq}\n${hash}\n${at}\n`);
}

/** The first 16 hex digits of the SHA-256 of the public key. */
export function fingerprintOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}

export function formatHead({ chain, seq, hash, at, key, signature }: Head): string {
  return JSON.stringify({ chain, seq, hash, at, key, signature });
}

export function readHead(line: string): Head | undefined {
  const value = parse(line);
  if (typeof value !== 'object' || value === null) return undefined;
  const text = (name: string) => {
    const member: unknown = Reflect.get(value, name);
    return typeof member === 'string' && !/[\r\n]/.test(member) ? member : undefined;
  };
  const count = (name: string) => {
    const member: unknown = Reflect.get(value, name);
    return typeof member === 'number' && Number.isSafeInteger(member) ? member : undefined;
  };
  const [chain, hash, key, signature] = [text('chain'), text('hash'), text('key'), text('signature')];
  const [seq, at] = [count('seq'), count('at')];
  if (chain === undefined || hash === undefined || key === undefined || signature === undefined)
    return undefined;
  return seq === undefined || at === undefined ? undefined : { chain, seq, hash, at, key, signature };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
