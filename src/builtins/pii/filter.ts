import { Anonymizer } from './anonymizer.ts';
import { findRevealer, markMessages, rewriteRequest, sessionOf } from './conversation.ts';
import { createDetector } from './detector.ts';
import { applyEdits } from './edit.ts';
import { describeCounts } from './entity.ts';
import { rewriteMessage } from './message-rewrite.ts';
import { invalidEventError, type JsonObject, requireList, requireObject, requireText } from './payload.ts';
import { PseudonymMemory } from './pseudonym-memory.ts';
import { type PseudonymResolver, Pseudonyms } from './pseudonyms.ts';
import { rememberFindings } from './remembering-detector.ts';
import { createSealedMarks } from './sealed-mark.ts';
import { isPseudonymising, type PiiSettings, type RestorePlace } from './settings.ts';
import type { TextSource } from './text-changer.ts';
import { editText, rewriteTree } from './text-rewrite.ts';

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
