import { createHmac, hash, type KeyObject } from 'node:crypto';
import type { Scrubber } from '../../contract/scrub.ts';
import type { AuditedVerdict, AuditRecord } from '../ports.ts';
import { type AuditKeys, fingerprintOf, type Head, readSigningKey, signTip, type Tip } from './keys.ts';

/** The row of a call, its members in the order in which they are written. */
export interface CallRow {
  readonly kind: 'call';
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly key_id: string | null;
  readonly caller: string;
  readonly endpoint: string;
  readonly model: string;
  /** The ids of the providers that were asked, in turn, and of the one whose answer it is; null in rows that older versions wrote. */
  readonly asked: readonly string[] | null;
  readonly provider: string | null;
  readonly stream: boolean;
  readonly status: number;
  /** As AuditRecord has it. */
  readonly outcome: string;
  readonly verdicts: readonly AuditedVerdict[];
  /** HMAC-SHA-256, in hex, of the SHA-256 of the body. */
  readonly request_digest: string;
  readonly answer_digest: string | null;
  readonly usage: {
    readonly input: number;
    readonly output: number;
    readonly cached_input: number | null;
  } | null;
  /** US dollars. */
  readonly cost: number | null;
  /** Milliseconds. */
  readonly times: { readonly total: number; readonly hooks: number; readonly upstream: number };
  /** SHA-256, in hex, of the text in `contents`; null where none is kept. */
  readonly content: string | null;
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

/** All rows up to one were removed because of their age. */
interface PruneRow {
  readonly kind: 'prune';
  readonly at: number;
  /** The number of the last removed row, and its hash. */
  readonly through: number;
  readonly hash: string;
  /** How many rows were removed this time. */
  readonly removed: number;
}

export type AuditRow = CallRow | BeginRow | KeyRow | PruneRow;

/** A call to be kept: its row, the digests not yet keyed, and the text of its content, if that is kept. */
export interface NewCall {
  readonly row: CallRow;
  readonly content: string | undefined;
}

/** The row of a call without known secrets, and no text in it longer than it may be. */
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
/** More than any chain of hooks has; a stream in windows asks them often. */
const MOST_VERDICTS = 100;

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** To microseconds. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

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

/** A row's place in the chain, and what is kept there. */
export interface Link {
  readonly chain: string;
  /** From 1, without gaps. */
  readonly seq: number;
  /** The hash of the row before. */
  readonly previous: string;
  /** The JSON text of the row, exactly as it is kept. */
  readonly body: string;
}

/** What stands for the hash of the row before the first. */
export const noHash = '0'.repeat(64);

/**
 * The hash of a row: SHA-256, in hex, of five lines. All but the last have no line breaks by what they are, so no two links have
 * the same lines.
 */
export function hashLink({ chain, seq, previous, body }: Link): string {
  return hash('sha256', `signalbox-audit/1\n${chain}\n${seq}\n${previous}\n${body}`);
}

function digestOf(text: string): string {
  return hash('sha256', text);
}
