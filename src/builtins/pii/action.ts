import { createHmac } from 'node:crypto';
import type { Entity } from './entity.ts';

export const actions = ['block', 'redact', 'mask', 'hash', 'pseudonymise'] as const;
export type Action = (typeof actions)[number];

export function redact(entity: Entity): string {
  return `[${entity}]`;
}

/** Returns `[EMAIL_ADDRESS:0f3a…]` with 64 bits of a keyed hash; all spellings of a value have one hash. */
export function hash(entity: Entity, value: string, key: Uint8Array): string {
  const digest = createHmac('sha256', key)
    .update(`${entity}\0${canonicalValue(value)}`)
    .digest('hex');
  return `[${entity}:${digest.slice(0, 16)}]`;
}

/** Keeps enough to recognize a known value: four digits, first letters or an email's domain. */
export function mask(entity: Entity, value: string): string {
  switch (entity) {
    case 'CREDIT_CARD':
    case 'IBAN_CODE':
    case 'US_SSN':
    case 'PHONE_NUMBER':
      return keepLastFour(value);
    case 'EMAIL_ADDRESS': {
      const [first = ''] = value;
      const domain = /(?:@|＠|%40)[^@＠%]*$/.exec(value)?.[0] ?? '';
      return `${first}***${domain}`;
    }
    case 'PERSON':
    case 'LOCATION':
      return value.replaceAll(/(\p{L})[\p{L}\p{M}]*/gu, '$1***');
    default:
      // Hides the length as well.
      return '********';
  }
}

function keepLastFour(value: string): string {
  let left = value.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const shown = left >= 8 ? 4 : 0;
  return value.replaceAll(/[\p{L}\p{N}]/gu, (character) => {
    left -= 1;
    return left < shown ? character : '*';
  });
}

function canonicalValue(value: string): string {
  const plain = value.normalize('NFKC').toLowerCase().replaceAll('%40', '@');
  return /^[\d\s().+/-]+$/.test(plain) || /^[a-z]{2}\d{2}[a-z\d -]+$/.test(plain)
    ? plain.replaceAll(/[^a-z\d+]/g, '')
    : plain;
}
