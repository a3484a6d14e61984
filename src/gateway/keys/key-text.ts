import { hash, randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { StateStoreConfig } from '../../config/config.ts';
import { memoryFile } from '../../store/sqlite/connection.ts';
import { unusableStoreError } from '../../store/store-rules.ts';

/** Creates a key: `sbx_`, 256 random bits and a checksum, in letters and digits. */
export function createKeyText(): string {
  const body = PREFIX + encode(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH);
  return body + checksumOf(body);
}

/** Whether a text has the format and checksum of a key. Other texts need no lookup. */
export function isKeyText(text: string): boolean {
  if (text.length !== LENGTH || !form.test(text)) return false;
  return text.slice(BODY_LENGTH) === checksumOf(text.slice(0, BODY_LENGTH));
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The start of a key for recognition: 24 of its 256 bits. */
export function hintOf(text: string): string {
  return `${text.slice(0, PREFIX.length + HINT_LENGTH)}…`;
}

const PREFIX = 'sbx_';
const HINT_LENGTH = 4;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62 ** 43 exceeds 2 ** 256, and 62 ** 6 exceeds 2 ** 32. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = PREFIX.length + RANDOM_LENGTH;
const LENGTH = BODY_LENGTH + CHECKSUM_LENGTH;
const form = /^sbx_[0-9A-Za-z]+$/;

function checksumOf(body: string): string {
  return encode(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function encode(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n)
    text = (alphabet[Number(rest % 62n)] ?? '') + text;
  return text;
}

/** Throws STORE_FAILED. */
export function keysFileOf(store: Exclude<StateStoreConfig, { type: 'postgres' }>): string {
  switch (store.type) {
    case 'memory':
      return memoryFile;
    case 'sqlite':
      return join(dirname(store.file), 'keys.db');
    case 'refused':
      throw unusableStoreError(store.reason);
  }
}
