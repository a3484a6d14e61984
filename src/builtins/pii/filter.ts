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

/** A filter's reply in the native dialect. */
export type FilterReply = Readonly<Record<string, unknown>>;

export interface PiiFilter {
  /** Answers one payload at that time, in ms. Throws EVENT_INVALID for a payload that it does not know. */
  answer(payload: unknown, now: number): FilterReply;
  /** Removes the values of conversations that have been idle for too long. */
  sweep(now: number): void;
}

/** Sessions are bounded, so that values do not pile up: an hour without a call, or a thousand newer ones. */
const limits = { maxEntries: 1000, idleMs: 3_600_000 };

/** A filter for the provider and tool hooks of the native dialect. */
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

/** What the handler of every phase needs. */
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
      throw invalidEventError('its hook and phase are not those of a provider or tool hook');
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
  // Where nothing is restored, new values get the next numbers.
  const pseudonyms = isPseudonymising(settings) && settings.restore.size < 2 ? rebuild() : undefined;
  const anonymizer = createAnonymizer(pseudonyms, findRevealer(request, { memory, now, rebuild }));
  const [textSource, args] = [textSourceFor('answer', settings), textSourceFor('args', settings)];
  const changed = rewriteMessage(message, {
    texts: { changer: anonymizer.at('assistant'), textSource: textSource, isExecuted: false },
    args: { changer: anonymizer.at('args'), textSource: args, isExecuted: true },
  });
  return reply(anonymizer, 'the answer', changed === message ? {} : { message: complete(changed) });
}

/**
 * A function that gives the pseudonyms of a request, computed on first use, since that costs a full
 * filtering.
 */
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

/** The message with the members that a replaced message must have. */
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

/** A result names no conversation, so values that would get a pseudonym are hashed. */
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

/** How a model's text is treated: restored for its reader, or left with pseudonyms. */
function textSourceFor(restorePlace: RestorePlace, { restore }: PiiSettings): TextSource {
  return restore.has(restorePlace) ? 'restored' : 'echo';
}

/** The reply; its reason and metadata hold counts, never values. */
function reply({ changed, blocked, restored }: Anonymizer, what: string, replace: JsonObject): FilterReply {
  if (Object.keys(blocked).length > 0) {
    const reason = `${what} holds ${describeCounts(blocked)}`.replace('arguments holds', 'arguments hold');
    return { allow: false, reason, metadata: { pii: blocked } };
  }
  const metadata = { pii: changed, ...(Object.keys(restored).length > 0 && { restored }) };
  if (Object.keys(replace).length === 0) return { allow: true, metadata };
  return { allow: true, replace, metadata };
}

/** The members of a provider request that had to be changed. */
interface RewrittenRequest {
  readonly messages?: readonly JsonObject[];
  readonly system_prompt?: string;
  /** What else the body of a request over HTTP says, tool definitions among it. */
  readonly other?: unknown;
}

/**
 * Rewrites a provider request: the system prompt first, then the rest of its body, then the messages in their order,
 * so that every process numbers the pseudonyms alike, and a longer conversation those of a shorter one. Throws EVENT_INVALID.
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
    // Text that was restored on its way back has real values again; other text still has pseudonyms.
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

/** Where a message of that role is looked at; one that nobody knows is a person's. */
function placeOf(role: unknown): ScanPlace {
  return scanPlaces.find((place) => place === (role === 'developer' ? 'system' : role)) ?? 'user';
}

/** The rest of a request's body; its definitions of tools are a place of their own. */
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

/**
 * The messages with the mark of their conversation on the last changed one; where none was changed, since the values
 * stand elsewhere in the request, on the last one.
 */
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

/** Where the values behind a request's pseudonyms may be found. */
interface RevealerContext {
  readonly memory: PseudonymMemory;
  readonly now: number;
  /** Numbers the pseudonyms of the request again from its texts. */
  rebuild(): Pseudonyms;
}

/**
 * The source of the values behind the pseudonyms of this request's answer: the conversation whose mark the
 * request carries; else the real values in the request itself, then its session. Never another conversation.
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

/** The session that the request's metadata names. */
function sessionOf(request: JsonObject): string | undefined {
  const { metadata } = request;
  const id = isObject(metadata) ? metadata['session_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

interface PseudonymMemoryLimits {
  /** How many conversations, and how many sessions, are remembered; the least recently used go first. */
  readonly maxEntries: number;
  /** Entries that have not been used for this long are removed; ms. */
  readonly idleMs: number;
}

/**
 * Remembers the values of pseudonyms, in memory only, so that they can be restored. A conversation is
 * identified by a mark in its messages, a session by its id.
 */
class PseudonymMemory {
  readonly #marks: LRUCache<string, PseudonymResolver>;
  readonly #sessions: LRUCache<string, SessionValues>;
  readonly #key: Uint8Array;
  readonly #sealed: SealedMarks | undefined;
  /** The time that the caller has given, for both caches. */
  #now = 0;

  /** `sealed`: writes marks that other processes can read; undefined: only this memory knows the values. */
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

  /**
   * Stores the values of a conversation; returns its mark, which identifies them and reveals them to nobody without
   * the key.
   */
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

  /** Forgets what has been idle for too long. */
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

/** The values of all conversations of one session; a pseudonym with two different values resolves to none. */
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

/** Longer ones, in characters of the values, would make every request of a conversation long. */
const LONGEST = 100_000;

/** Writes and reads marks that hold the values of a conversation, for those alone who have the same key. */
interface SealedMarks {
  /** The same for the same values; undefined where they are too long. */
  seal(pseudonyms: Pseudonyms): string | undefined;
  /** Undefined: it is no sealed mark, or was sealed with another key. */
  open(mark: string): PseudonymResolver | undefined;
}

/** AES-256-GCM with a nonce that follows from the values, so that equal requests stay equal. */
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
