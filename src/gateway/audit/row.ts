import { createHmac, hash, type KeyObject } from 'node:crypto';
import type { AuditedCall } from '../../contract/decision.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import type { AuditedVerdict, AuditRecord } from '../ports.ts';
import { type AuditKeys, fingerprintOf, type Head, readSigningKey, signTip, type Tip } from './keys.ts';

/** The row of a call. The members are in the order in which they are written. */
export interface CallRow extends Omit<AuditedCall, 'at' | 'chain' | 'seq' | 'hash'> {
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface BeginRow {
  readonly kind: 'begin';
  readonly at: number;
  /** SPKI in PEM. */
  readonly public_key: string;
}

interface KeyRow {
  readonly kind: 'key';
  readonly at: number;
  readonly public_key: string;
}

interface PruneRow {
  readonly kind: 'prune';
  readonly at: number;
  readonly through: number;
  readonly hash: string;
  readonly removed: number;
}

export type AuditRow = CallRow | BeginRow | KeyRow | PruneRow;

export interface NewCall {
  readonly row: CallRow;
  readonly content: string | undefined;
}

/** Builds a call's row. Removes known secrets and cuts long texts. */
export function toNewCall(record: AuditRecord, scrubber: Scrubber, keepsContent: boolean): NewCall {
  const { usage, times, content } = record;
  const word = (text: string) => cut(scrubber.values(text), LONGEST_NAME);
  const row: CallRow = {
    kind: 'call',
    id: word(record.id),
    at: Math.round(record.at),
    key_id: record.keyId === null ? null : word(record.keyId),
    caller: word(record.caller),
    endpoint: record.endpoint,
    model: word(record.model),
    asked: record.asked.map(word),
    provider: record.provider === null ? null : word(record.provider),
    stream: record.isStream,
    status: record.status,
    outcome: record.outcome,
    verdicts: record.verdicts.slice(0, MOST_VERDICTS).map((verdict) => toVerdict(verdict, scrubber)),
    request_digest: record.requestDigest,
    answer_digest: record.answerDigest,
    usage: usage
      ? { input: usage.input, output: usage.output, cached_input: usage.cachedInput ?? null }
      : null,
    cost: record.cost,
    times: { total: round(times.total), hooks: round(times.hooks), upstream: round(times.upstream) },
    content: null,
  };
  if (!keepsContent || content === undefined) return { row, content: undefined };
  const { request, answer } = content;
  return {
    row,
    content: JSON.stringify({ request: scrubber.values(request), answer: scrubber.values(answer) }),
  };
}

function toVerdict({ phase, verdict, hook, reason }: AuditedVerdict, scrubber: Scrubber): AuditedVerdict {
  return {
    phase: cut(phase, LONGEST_NAME),
    verdict: cut(verdict, LONGEST_NAME),
    hook: hook === null ? null : cut(hook, LONGEST_NAME),
    reason: reason === '' ? '' : cut(scrubber.text(reason), LONGEST_REASON),
  };
}

const LONGEST_NAME = 256;
const LONGEST_REASON = 1000;
/** More than any hook chain has. A stream in windows runs its hooks many times. */
const MOST_VERDICTS = 100;

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Rounds to microseconds. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

export interface RowMaker {
  readonly key: string;
  sign(tip: Tip): Head;
  link(tip: Tip, row: AuditRow): { readonly body: string; readonly tip: Tip };
  introduction(tip: Tip): AuditRow;
  callRow(call: NewCall): CallRow;
}

/** Throws STORE_FAILED if a key is invalid. */
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

export interface Link {
  readonly chain: string;
  readonly seq: number;
  readonly previous: string;
  readonly body: string;
}

/** Stands for the previous hash in the first row. */
export const noHash = '0'.repeat(64);

/**
 * Returns the SHA-256, in hex, of five lines. Only the last line can contain line breaks, so the input is unambiguous.
 */
export function hashLink({ chain, seq, previous, body }: Link): string {
  return hash('sha256', `signalbox-audit/1\n${chain}\n${seq}\n${previous}\n${body}`);
}

function digestOf(text: string): string {
  return hash('sha256', text);
}
