import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { isObject } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/try-parse.ts';
import type { PseudonymResolver, Pseudonyms } from './pseudonyms.ts';

const PREFIX = 'sealed.';
const NONCE = 12;
const TAG = 16;

/** Longer ones, in characters of the values, would make every request of a conversation long. */
const LONGEST = 100_000;

/** Writes and reads marks that hold the values of a conversation, for those alone who have the same key. */
export interface SealedMarks {
  /** The same for the same values; undefined where they are too long. */
  seal(pseudonyms: Pseudonyms): string | undefined;
  /** Undefined: it is no sealed mark, or was sealed with another key. */
  open(mark: string): PseudonymResolver | undefined;
}

/** AES-256-GCM with a nonce that follows from the values, so that equal requests stay equal. */
export function createSealedMarks(secret: Uint8Array): SealedMarks {
  const keyOf = (use: string) => new Uint8Array(hkdfSync('sha256', secret, '', `pii ${use}`, 32));
  const [key, nonceKey] = [keyOf('mark'), keyOf('mark nonce')];
  return {
    seal: (pseudonyms) => {
      const text = JSON.stringify(Object.fromEntries(pseudonyms.entries()));
      if (text.length > LONGEST) return undefined;
      const nonce = createHmac('sha256', nonceKey).update(text).digest().subarray(0, NONCE);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return PREFIX + sealed.toString('base64url');
    },
    open: (mark) => {
      if (!mark.startsWith(PREFIX)) return undefined;
      const values = open(Buffer.from(mark.slice(PREFIX.length), 'base64url'), key);
      return values && { reveal: ({ name, number }) => textOf(values, `${name} ${number}`) };
    },
  };
}

function open(bytes: Buffer, key: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (bytes.length < NONCE + TAG) return undefined;
  try {
    const options = { authTagLength: TAG };
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), options);
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
    const value = tryJson(text.toString('utf8'))?.value;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOf(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
