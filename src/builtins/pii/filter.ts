import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isObject } from '../../base/json/json.ts';
import { tryJson } from '../../base/json/parse.ts';
import { Anonymizer } from './anonymizer.ts';
import { createDetector } from './detector.ts';
import { applyEdits } from './edit.ts';
import { describeCounts } from './entity.ts';
import { markKey } from './message-members.ts';
import { type MessageRewriteOptions, rewriteMessage } from './message-rewrite.ts';
import { invalidEventError, type JsonObject, requireList, requireObject, requireText } from './payload.ts';
import { type PseudonymMention, type PseudonymResolver, Pseudonyms } from './pseudonyms.ts';
import { rememberFindings } from './remembering-detector.ts';
import {
  isPseudonymising,
  type PiiSettings,
  type RestorePlace,
  type ScanPlace,
  scanPlaces,
} from './settings.ts';
import type { TextSource } from './text-changer.ts';
import { editText, type RewriteOptions, rewriteTree } from './text-rewrite.ts';

export type FilterReply = Readonly<Record<string, unknown>>;

export interface PiiFilter {
  /** `now` is in milliseconds. Throws EVENT_INVALID for an unknown payload. */
  answer(payload: unknown, now: number): FilterReply;
  sweep(now: number): void;
}

/** Values expire after an idle hour or a thousand newer sessions. */
const limits = { maxEntries: 1000, idleMs: 3_600_000 };

export function createPiiFilter(settings: PiiSettings): PiiFilter {
  const detect = rememberFindings(createDetector(settings));
  const sealed = settings.isKeyShared === true ? createSealedMarks(settings.key) : undefined;
  const memory = new PseudonymMemory(settings.key, limits, sealed);
  const treat = (ledger?: Pseudonyms, revealer?: PseudonymResolver) =>
    new Anonymizer({ settings, detect, pseudonyms: ledger, resolver: revealer });
  const context: FilterContext = { settings, memory, createAnonymizer: treat };
  return {
    answer: (payload, now) => answer(requireObject(payload, 'the payload'), context, now),
    sweep: (now) => memory.sweep(now),
  };
}

interface FilterContext {
  readonly settings: PiiSettings;
  readonly memory: PseudonymMemory;
  createAnonymizer(ledger?: Pseudonyms, revealer?: PseudonymResolver): Anonymizer;
}

function answer(payload: JsonObject, context: FilterContext, now: number): FilterReply {
  const request = requireObject(payload['request'], 'request');
  switch (`${payload['hook']} ${payload['phase']}`) {
    case 'provider before_call':
      return beforeCall(request, context, now);
    case 'provider after_call':
      return afterCall(request, requireObject(payload['response'], 'response'), { context, now });
    case 'tool before_execution':
      return beforeExecution(request, context, now);
    case 'tool after_execution':
      return afterExecution(requireObject(payload['response'], 'response'), context);
    default:
      throw invalidEventError('its hook and phase do not belong to a provider or tool hook');
  }
}

function beforeCall(
  request: JsonObject,
  { settings, memory, createAnonymizer }: FilterContext,
  now: number,
): FilterReply {
  if (request['messages'] === undefined) throw invalidEventError('request has no messages');
  const pseudonyms = new Pseudonyms();
  const anonymizer = createAnonymizer(pseudonyms);
  const { messages, ...rest } = rewriteRequest(request, anonymizer, settings);
  const given = requireList(request['messages'], 'messages');
  if (pseudonyms.size === 0 || settings.restore.size === 0 || given.length === 0) {
    return reply(anonymizer, 'the request', { ...(messages && { messages }), ...rest });
  }
  const mark = memory.keep(pseudonyms, sessionOf(request), now);
  return reply(anonymizer, 'the request', { messages: markMessages(messages, given, mark), ...rest });
}

function afterCall(
  request: JsonObject,
  response: JsonObject,
  { context, now }: { readonly context: FilterContext; readonly now: number },
): FilterReply {
  const { settings, memory, createAnonymizer } = context;
  const message = requireObject(response['message'], 'response.message');
  const rebuild = createPseudonymRebuild(request, context);
  // If nothing is restored, new values get the next numbers.
  const pseudonyms = isPseudonymising(settings) && settings.restore.size < 2 ? rebuild() : undefined;
  const anonymizer = createAnonymizer(pseudonyms, findRevealer(request, { memory, now, rebuild }));
  const [textSource, args] = [textSourceFor('answer', settings), textSourceFor('args', settings)];
  const changed = rewriteMessage(message, {
    texts: { changer: anonymizer.at('assistant'), textSource: textSource, isExecuted: false },
    args: { changer: anonymizer.at('args'), textSource: args, isExecuted: true },
  });
  return reply(anonymizer, 'the answer', changed === message ? {} : { message: complete(changed) });
}

/** Computed on first use, since it filters the whole request. */
function createPseudonymRebuild(
  request: JsonObject,
  { settings, createAnonymizer }: FilterContext,
): () => Pseudonyms {
  let pseudonyms: Pseudonyms | undefined;
  return () => {
    if (pseudonyms === undefined) {
      pseudonyms = new Pseudonyms();
      rewriteRequest(request, createAnonymizer(pseudonyms), settings);
    }
    return pseudonyms;
  };
}

function complete(message: JsonObject): JsonObject {
  return { ...message, role: message['role'] ?? 'assistant', content: message['content'] ?? '' };
}

function beforeExecution(
  request: JsonObject,
  { settings, memory, createAnonymizer }: FilterContext,
  now: number,
): FilterReply {
  const session = sessionOf(request);
  const revealer = session === undefined ? undefined : memory.session(session, now);
  const anonymizer = createAnonymizer(undefined, revealer);
  const given = request['args'] ?? {};
  requireObject(given, 'args');
  const args = rewriteTree(given, {
    changer: anonymizer.at('args'),
    textSource: textSourceFor('args', settings),
    isExecuted: true,
  });
  return reply(anonymizer, 'the arguments', args === given ? {} : { args });
}

/** A result names no conversation, so pseudonymised entities are hashed. */
function afterExecution(response: JsonObject, { createAnonymizer }: FilterContext): FilterReply {
  const anonymizer = createAnonymizer();
  const content = requireText(response['content'], 'response.content');
  const edits = editText(content, {
    changer: anonymizer.at('tool'),
    textSource: 'original',
    isExecuted: false,
  });
  return reply(anonymizer, 'the result', edits.length === 0 ? {} : { content: applyEdits(content, edits) });
}

function textSourceFor(restorePlace: RestorePlace, { restore }: PiiSettings): TextSource {
  return restore.has(restorePlace) ? 'restored' : 'echo';
}

/** Reason and metadata contain counts, never values. */
function reply({ changed, blocked, restored }: Anonymizer, what: string, replace: JsonObject): FilterReply {
  if (Object.keys(blocked).length > 0) {
    const reason = `${what} holds ${describeCounts(blocked)}`.replace('arguments holds', 'arguments hold');
    return { allow: false, reason, metadata: { pii: blocked } };
  }
  const metadata = { pii: changed, ...(Object.keys(restored).length > 0 && { restored }) };
  if (Object.keys(replace).length === 0) return { allow: true, metadata };
  return { allow: true, replace, metadata };
}

interface RewrittenRequest {
  readonly messages?: readonly JsonObject[];
  readonly system_prompt?: string;
  readonly other?: unknown;
}

/**
 * Rewrites the system prompt, then the rest of the body, then the messages in order. This order makes every process,
 * and every later request of the conversation, number the pseudonyms alike. Throws EVENT_INVALID.
 */
function rewriteRequest(
  request: JsonObject,
  anonymizer: Anonymizer,
  { restore }: PiiSettings,
): RewrittenRequest {
  const original = (place: ScanPlace): MessageRewriteOptions['texts'] => ({
    changer: anonymizer.at(place),
    textSource: 'original',
    isExecuted: false,
  });
  const prompt = requireText(request['system_prompt'], 'system_prompt');
  const promptEdits = editText(prompt, original('system'));
  const other = rewriteOther(request['other'], original);
  const given = requireList(request['messages'], 'messages');
  const messages = given.map((message) => {
    const { role } = requireObject(message, 'a message');
    // Restored text has real values again; other text still has pseudonyms.
    const args: TextSource = restore.has('args') ? 'original' : 'echo';
    const answer: TextSource = restore.has('answer') ? 'original' : 'echo';
    const textSource: TextSource = role === 'assistant' ? answer : role === 'tool' ? args : 'original';
    return rewriteMessage(message, {
      texts: { ...original(placeOf(role)), textSource: textSource },
      args: { ...original('args'), textSource: args },
    });
  });
  return {
    ...(messages.some((message, index) => message !== given[index]) && { messages }),
    ...(promptEdits.length > 0 && { system_prompt: applyEdits(prompt, promptEdits) }),
    ...(other !== request['other'] && { other }),
  };
}

function placeOf(role: unknown): ScanPlace {
  return scanPlaces.find((place) => place === (role === 'developer' ? 'system' : role)) ?? 'user';
}

/** Tool definitions are scanned as a place of their own. */
function rewriteOther(other: unknown, original: (place: ScanPlace) => RewriteOptions): unknown {
  const [rest, definitions] = [original('other'), original('definitions')];
  if (!isObject(other) || rest.changer === definitions.changer) return rewriteTree(other, rest);
  const parts = Object.entries(other).map(([key, value]) => {
    const part = { [key]: value };
    return [part, rewriteTree(part, key === 'tools' || key === 'functions' ? definitions : rest)] as const;
  });
  return parts.every(([part, changed]) => part === changed)
    ? other
    : Object.assign({}, ...parts.map(([, changed]) => changed));
}

/** Marks the last changed message, or the last message if only other parts of the request changed. */
function markMessages(
  changed: readonly JsonObject[] | undefined,
  given: readonly unknown[],
  mark: string,
): readonly JsonObject[] {
  const messages = changed ?? given.map((message) => requireObject(message, 'a message'));
  const last = messages.findLastIndex((message, index) => message !== given[index]);
  const place = last === -1 ? messages.length - 1 : last;
  return messages.map((message, index) => {
    if (index !== place) return message;
    const { meta } = message;
    return { ...message, meta: { ...(isObject(meta) ? meta : {}), [markKey]: mark } };
  });
}

interface RevealerContext {
  readonly memory: PseudonymMemory;
  readonly now: number;
  rebuild(): Pseudonyms;
}

/**
 * Resolves pseudonyms from the marked conversation; else from the request itself, then from its session. Never uses
 * another conversation.
 */
function findRevealer(request: JsonObject, { memory, now, rebuild }: RevealerContext): PseudonymResolver {
  const marked = markInRequest(request);
  const conversation = marked === undefined ? undefined : memory.conversation(marked, now);
  if (conversation !== undefined) return conversation;
  const session = sessionOf(request);
  const sessionValues = session === undefined ? undefined : memory.session(session, now);
  return { reveal: (mention) => rebuild().reveal(mention) ?? sessionValues?.reveal(mention) };
}

function markInRequest(request: JsonObject): string | undefined {
  const messages = requireList(request['messages'], 'messages');
  for (const message of messages.toReversed()) {
    const meta = isObject(message) ? message['meta'] : undefined;
    const mark = isObject(meta) ? meta[markKey] : undefined;
    if (typeof mark === 'string') return mark;
  }
  return undefined;
}

function sessionOf(request: JsonObject): string | undefined {
  const { metadata } = request;
  const id = isObject(metadata) ? metadata['session_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

interface PseudonymMemoryLimits {
  /** The maximum number of conversations and of sessions; the least recently used go first. */
  readonly maxEntries: number;
  readonly idleMs: number;
}

/** Keeps the values of pseudonyms in memory only. A mark in its messages identifies a conversation, an id a session. */
class PseudonymMemory {
  readonly #marks: LRUCache<string, PseudonymResolver>;
  readonly #sessions: LRUCache<string, SessionValues>;
  readonly #key: Uint8Array;
  readonly #sealed: SealedMarks | undefined;
  #now = 0;

  /** `sealed` writes marks that other processes can read; undefined: only this memory knows the values. */
  constructor(
    key: Uint8Array,
    { maxEntries: max, idleMs: ttl }: PseudonymMemoryLimits,
    sealed?: SealedMarks,
  ) {
    this.#key = key;
    this.#sealed = sealed;
    // An entry of time 0 would never expire.
    const perf = { now: () => this.#now + 1 };
    const options = { max, ttl, perf, ttlResolution: 0, updateAgeOnGet: true };
    this.#marks = new LRUCache(options);
    this.#sessions = new LRUCache(options);
  }

  /** Stores a conversation's values and returns its mark, which reveals nothing without the key. */
  keep(pseudonyms: Pseudonyms, session: string | undefined, now: number): string {
    this.#now = now;
    const mark = this.#sealed?.seal(pseudonyms) ?? this.#markOf(pseudonyms);
    this.#marks.set(mark, pseudonyms);
    if (session !== undefined) {
      const values = this.#sessions.get(session) ?? new SessionValues();
      values.add(pseudonyms);
      this.#sessions.set(session, values);
    }
    return mark;
  }

  conversation(mark: string, now: number): PseudonymResolver | undefined {
    this.#now = now;
    return this.#marks.get(mark) ?? this.#sealed?.open(mark);
  }

  session(id: string, now: number): PseudonymResolver | undefined {
    this.#now = now;
    return this.#sessions.get(id);
  }

  sweep(now: number): void {
    this.#now = now;
    this.#marks.purgeStale();
    this.#sessions.purgeStale();
  }

  #markOf(pseudonyms: Pseudonyms): string {
    const hmac = createHmac('sha256', this.#key).update('conversation\0');
    for (const [pseudonym, value] of pseudonyms.entries()) {
      hmac.update(`${pseudonym} ${value.length} ${value}`);
    }
    return hmac.digest('hex').slice(0, 32);
  }
}

/** The values of all conversations of one session; an ambiguous pseudonym resolves to none. */
class SessionValues implements PseudonymResolver {
  readonly #values = new Map<string, string | undefined>();

  add(pseudonyms: Pseudonyms): void {
    for (const [pseudonym, value] of pseudonyms.entries()) {
      const known = this.#values.get(pseudonym);
      const isNew = !this.#values.has(pseudonym) && this.#values.size < maxValues;
      if (isNew) this.#values.set(pseudonym, value);
      else if (known !== value) this.#values.set(pseudonym, undefined);
    }
  }

  reveal({ name, number }: Pick<PseudonymMention, 'name' | 'number'>): string | undefined {
    return this.#values.get(`${name} ${number}`);
  }
}

const maxValues = 10_000;

const PREFIX = 'sealed.';
const NONCE = 12;
const TAG = 16;

/** In characters. Longer marks would enlarge every request of a conversation. */
const LONGEST = 100_000;

/** Marks with the encrypted values of a conversation, readable only with the same key. */
interface SealedMarks {
  /** Deterministic; undefined if the values are too long. */
  seal(pseudonyms: Pseudonyms): string | undefined;
  /** Undefined if the mark is not sealed or has another key. */
  open(mark: string): PseudonymResolver | undefined;
}

/** AES-256-GCM with a nonce derived from the values, so that equal requests stay equal. */
function createSealedMarks(secret: Uint8Array): SealedMarks {
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
