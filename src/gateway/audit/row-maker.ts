import { createHmac, type KeyObject } from 'node:crypto';
import { digestOf, hashLink } from './chain.ts';
import { fingerprintOf, type Head, signTip, type Tip } from './head.ts';
import { type AuditKeys, readSigningKey } from './keys.ts';
import type { AuditRow, CallRow, NewCall } from './row.ts';

/** Makes what is kept of rows, with the keys of an audit. */
export interface RowMaker {
  /** The fingerprint of the key that signs. */
  readonly key: string;
  sign(tip: Tip): Head;
  /** The row behind the tip: its text, and the tip that it makes. */
  link(tip: Tip, row: AuditRow): { readonly body: string; readonly tip: Tip };
  /** The row that says who signs from here on. */
  introduction(tip: Tip): AuditRow;
  callRow(call: NewCall): CallRow;
}

/** Throws STORE_FAILED for a key that is none. */
export function createRowMaker(keys: AuditKeys): RowMaker {
  const privateKey: KeyObject = readSigningKey(keys.signing, 'the key of the audit');
  const key = fingerprintOf(privateKey);
  const keyDigest = (digest: string) =>
    createHmac('sha256', Buffer.from(keys.digest, 'hex')).update(digest).digest('hex');
  return {
    key,
    sign: (tip) => signTip({ ...tip, at: Date.now() }, privateKey, key),
    link: (tip, row) => {
      const body = JSON.stringify(row);
      const seq = tip.seq + 1;
      const hash = hashLink({ chain: tip.chain, seq, previous: tip.hash, body });
      return { body, tip: { ...tip, seq, hash } };
    },
    introduction: ({ seq }) => ({
      kind: seq === 0 ? 'begin' : 'key',
      at: Date.now(),
      public_key: keys.public,
    }),
    callRow: ({ row, content }) => ({
      ...row,
      request_digest: keyDigest(row.request_digest),
      answer_digest: row.answer_digest === null ? null : keyDigest(row.answer_digest),
      content: content === undefined ? null : digestOf(content),
    }),
  };
}
