import { createHmac } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { isObject } from '../../base/json/json.ts';
import { toStoreError } from '../../store/sqlite/store-error.ts';
import type { AuditedVerdict } from '../ports.ts';
import { openKept, readTip } from './database.ts';
import { formatHead } from './keys.ts';
import type { CallRow } from './row.ts';

export interface KeptCall extends CallRow {
  /** The row's chain; absent if the audit has only one. */
  readonly chain?: string;
  readonly seq: number;
  readonly hash: string;
}

export interface CallFilter {
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly outcome?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly digest?: string | undefined;
  /** Only calls after this one in the order of the list. */
  readonly after?: Pick<KeptCall, 'at' | 'chain' | 'seq'> | undefined;
  readonly limit: number;
}

/** Reads the calls of an audit. All methods reject with STORE_FAILED. */
export interface KeptRows {
  /** Newest first. */
  list(filter: CallFilter): Promise<KeptCall[]>;
  /** Returns at most `most` calls whose ID starts with `id`, or only the call with exactly that ID. */
  find(id: string, most: number): Promise<KeptCall[]>;
  /** Returns undefined if the bodies are not stored. */
  contentOf(call: Pick<KeptCall, 'chain' | 'seq'>): Promise<KeptContent | undefined>;
  /** The signed head of each chain as one line of JSON. Missing heads are omitted. */
  heads(): Promise<string[]>;
  close(): Promise<void>;
}

interface KeptContent {
  readonly request: string;
  readonly answer: string;
}

/** Opens an audit file for reading. Throws FILE_UNREADABLE if there is none, and STORE_FAILED. */
export function openKeptRows(file: string): KeptRows {
  const database = openKept(file);
  const read = async <Result>(work: () => Result): Promise<Result> => {
    try {
      return work();
    } catch (error) {
      throw toStoreError(error, file);
    }
  };
  return {
    list: async ({ after, limit, ...filter }) => {
      const calls: KeptCall[] = [];
      // A filter may find nothing in many rows, so a turn of the event loop reads a part of them.
      for (let before = after?.seq ?? Number.MAX_SAFE_INTEGER; calls.length < limit; await setImmediate()) {
        const part = await read(() => listPart(database, { ...filter, before, limit: limit - calls.length }));
        calls.push(...part.calls);
        if (part.from === undefined) break;
        before = part.from;
      }
      return calls;
    },
    find: (id, most) => read(() => findCalls(database, id, most)),
    contentOf: ({ seq }) =>
      read(() =>
        readContent(database.prepare('SELECT text FROM contents WHERE seq = :seq').get({ seq })?.['text']),
      ),
    heads: () =>
      read(() => {
        const tip = readTip(database);
        return tip === undefined ? [] : [formatHead(tip)];
      }),
    close: async () => database.close(),
  };
}

/** Returns the digest of a body as rows store it. `digestKey` is hex; `bodyDigest` is the body's SHA-256 in hex. */
export function keyedDigest(digestKey: string, bodyDigest: string): string {
  return createHmac('sha256', Buffer.from(digestKey, 'hex')).update(bodyDigest).digest('hex');
}

const partBegin = 'SELECT seq FROM rows WHERE seq < :before ORDER BY seq DESC LIMIT 1 OFFSET 1999';
const listing = `
  SELECT seq, body, hash FROM rows
  WHERE seq < :before AND seq >= :from AND body ->> '$.kind' = 'call'
    AND (:key IS NULL OR body ->> '$.key_id' = :key OR body ->> '$.caller' = :key)
    AND (:model IS NULL OR body ->> '$.model' = :model)
    AND (:outcome IS NULL OR body ->> '$.outcome' = :outcome)
    AND (:since IS NULL OR body ->> '$.at' >= :since)
    AND (:digest IS NULL OR body ->> '$.request_digest' = :digest OR body ->> '$.answer_digest' = :digest)
  ORDER BY seq DESC LIMIT :limit`;

function listPart(
  database: DatabaseSync,
  { before, limit, ...filter }: Omit<CallFilter, 'after'> & { readonly before: number },
): { readonly calls: KeptCall[]; readonly from: number | undefined } {
  const { key = null, model = null, outcome = null, since = null, digest = null } = filter;
  const first = database.prepare(partBegin).get({ before });
  const from = first && Number(first['seq']);
  const values = { key, model, outcome, since, digest, limit, before, from: from ?? 0 };
  const rows = database.prepare(listing).all(values);
  return { calls: rows.flatMap((row) => toCall(row) ?? []), from };
}

function findCalls(database: DatabaseSync, id: string, most: number): KeptCall[] {
  const exact = database.prepare(
    'SELECT seq, body, hash FROM rows WHERE id = :id ORDER BY seq DESC LIMIT :most',
  );
  const begins = database.prepare(`
    SELECT seq, body, hash FROM rows WHERE id >= :id AND substr(id, 1, length(:id)) = :id
    ORDER BY id LIMIT :most`);
  const found = exact.all({ id, most });
  return (found.length > 0 ? found : begins.all({ id, most })).flatMap((row) => toCall(row) ?? []);
}

export function readContent(text: unknown): KeptContent | undefined {
  const value = typeof text === 'string' ? parse(text) : undefined;
  if (!isObject(value)) return undefined;
  const { request, answer } = value;
  return typeof request === 'string' && typeof answer === 'string' ? { request, answer } : undefined;
}

/** Returns undefined for rows that are not calls. Does not verify the row. */
export function toCall({ chain, seq, body, hash }: Readonly<Record<string, unknown>>): KeptCall | undefined {
  const row = typeof body === 'string' ? readCallRow(parse(body)) : undefined;
  const place = typeof chain === 'string' ? { chain } : {};
  return row && { ...place, seq: Number(seq), ...row, hash: String(hash) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Members = Readonly<Record<string, unknown>>;

/** Members with a wrong type get empty values. Returns undefined for rows that are not calls. */
function readCallRow(value: unknown): CallRow | undefined {
  if (!isObject(value) || value['kind'] !== 'call') return undefined;
  const times = membersAt(value, 'times');
  const usage = membersAt(value, 'usage');
  return {
    kind: 'call',
    id: textAt(value, 'id') ?? '',
    at: numberAt(value, 'at') ?? 0,
    key_id: textAt(value, 'key_id'),
    caller: textAt(value, 'caller') ?? '',
    endpoint: textAt(value, 'endpoint') ?? '',
    model: textAt(value, 'model') ?? '',
    asked: textsAt(value, 'asked'),
    provider: textAt(value, 'provider'),
    stream: value['stream'] === true,
    status: numberAt(value, 'status') ?? 0,
    outcome: textAt(value, 'outcome') ?? '',
    verdicts: verdictsAt(value),
    request_digest: textAt(value, 'request_digest') ?? '',
    answer_digest: textAt(value, 'answer_digest'),
    usage: usage && {
      input: numberAt(usage, 'input') ?? 0,
      output: numberAt(usage, 'output') ?? 0,
      cached_input: numberAt(usage, 'cached_input'),
    },
    cost: numberAt(value, 'cost'),
    times: {
      total: numberAt(times, 'total') ?? 0,
      hooks: numberAt(times, 'hooks') ?? 0,
      upstream: numberAt(times, 'upstream') ?? 0,
    },
    content: textAt(value, 'content'),
  };
}

function verdictsAt(value: Members): AuditedVerdict[] {
  const verdicts = value['verdicts'];
  if (!Array.isArray(verdicts)) return [];
  return verdicts.filter(isObject).map((each) => ({
    phase: textAt(each, 'phase') ?? '',
    verdict: textAt(each, 'verdict') ?? '',
    hook: textAt(each, 'hook'),
    reason: textAt(each, 'reason') ?? '',
  }));
}

function textsAt(value: Members, name: string): string[] | null {
  const member = value[name];
  return Array.isArray(member) ? member.filter((each) => typeof each === 'string') : null;
}

function membersAt(value: Members, name: string): Members | null {
  const member = value[name];
  return isObject(member) ? member : null;
}

function textAt(value: Members, name: string): string | null {
  const member = value[name];
  return typeof member === 'string' ? member : null;
}

function numberAt(value: Members | null, name: string): number | null {
  const member = value?.[name];
  return typeof member === 'number' ? member : null;
}
