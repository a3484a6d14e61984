import { markMessages, recall, rewriteRequest, sessionOf } from './conversation.ts';
import { createDetector } from './detect.ts';
import { applyEdits } from './edit.ts';
import { describeCounts } from './entity.ts';
import { Ledger } from './ledger.ts';
import { Memory, type Revealer } from './memory.ts';
import { rewriteMessage } from './message.ts';
import { editText, rewriteTree } from './rewrite.ts';
import { isPseudonymising, type PiiSettings, type RestorePlace } from './settings.ts';
import { type JsonObject, refuse, requireList, requireObject, requireText } from './shape.ts';
import { Treatment, type Voice } from './treatment.ts';

/** A filter's reply in the native dialect. */
export type Reply = Readonly<Record<string, unknown>>;

export interface PiiFilter {
  /** Answers one payload at that time, in ms. Throws EVENT_INVALID for a payload that it does not know. */
  answer(payload: unknown, now: number): Reply;
  /** Forgets the values of conversations that have been idle for too long. */
  sweep(now: number): void;
}

/** Sessions are bounded, so that values do not pile up: an hour without a call, or a thousand newer ones. */
const limits = { most: 1000, idleMs: 3_600_000 };

/** A filter for the provider and tool hooks of the native dialect. */
export function createPiiFilter(settings: PiiSettings): PiiFilter {
  const detect = createDetector(settings);
  const memory = new Memory(settings.key, limits);
  const treat = (ledger?: Ledger, revealer?: Revealer) =>
    new Treatment({ settings, detect, ledger, revealer });
  const desk: Desk = { settings, memory, treat };
  return {
    answer: (payload, now) => answer(requireObject(payload, 'the payload'), desk, now),
    sweep: (now) => memory.sweep(now),
  };
}

/** What every phase works with. */
interface Desk {
  readonly settings: PiiSettings;
  readonly memory: Memory;
  treat(ledger?: Ledger, revealer?: Revealer): Treatment;
}

function answer(payload: JsonObject, desk: Desk, now: number): Reply {
  const request = requireObject(payload['request'], 'request');
  switch (`${payload['hook']} ${payload['phase']}`) {
    case 'provider before_call':
      return beforeCall(request, desk, now);
    case 'provider after_call':
      return afterCall(request, requireObject(payload['response'], 'response'), { desk, now });
    case 'tool before_execution':
      return beforeExecution(request, desk, now);
    case 'tool after_execution':
      return afterExecution(requireObject(payload['response'], 'response'), desk);
    default:
      throw refuse('its hook and phase are not those of a provider or tool hook');
  }
}

function beforeCall(request: JsonObject, { settings, memory, treat }: Desk, now: number): Reply {
  if (request['messages'] === undefined) throw refuse('request has no messages');
  const ledger = new Ledger();
  const treatment = treat(ledger);
  const { messages, ...rest } = rewriteRequest(request, treatment, settings);
  if (ledger.size === 0 || settings.restore.size === 0 || messages === undefined) {
    return reply(treatment, 'the request', { ...(messages && { messages }), ...rest });
  }
  const mark = memory.keep(ledger, sessionOf(request), now);
  const given = requireList(request['messages'], 'messages');
  return reply(treatment, 'the request', { messages: markMessages(messages, given, mark), ...rest });
}

function afterCall(
  request: JsonObject,
  response: JsonObject,
  { desk, now }: { readonly desk: Desk; readonly now: number },
): Reply {
  const { settings, memory, treat } = desk;
  const message = requireObject(response['message'], 'response.message');
  const rebuild = rebuildOnce(request, desk);
  // Where nothing is turned back, what is new gets the next numbers.
  const ledger = isPseudonymising(settings) && settings.restore.size < 2 ? rebuild() : undefined;
  const treatment = treat(ledger, recall(request, { memory, now, rebuild }));
  const [said, args] = [voiceOf('answer', settings), voiceOf('args', settings)];
  const changed = rewriteMessage(message, {
    said: { treatment, voice: said, isExecuted: false },
    args: { treatment, voice: args, isExecuted: true },
  });
  return reply(treatment, 'the answer', changed === message ? {} : { message: complete(changed) });
}

/** The ledger of a request, made when first asked for: it takes as long as filtering the request does. */
function rebuildOnce(request: JsonObject, { settings, treat }: Desk): () => Ledger {
  let ledger: Ledger | undefined;
  return () => {
    if (ledger === undefined) {
      ledger = new Ledger();
      rewriteRequest(request, treat(ledger), settings);
    }
    return ledger;
  };
}

/** What a replaced message must have. */
function complete(message: JsonObject): JsonObject {
  return { ...message, role: message['role'] ?? 'assistant', content: message['content'] ?? '' };
}

function beforeExecution(request: JsonObject, { settings, memory, treat }: Desk, now: number): Reply {
  const session = sessionOf(request);
  const revealer = session === undefined ? undefined : memory.session(session, now);
  const treatment = treat(undefined, revealer);
  const given = request['args'] ?? {};
  requireObject(given, 'args');
  const args = rewriteTree(given, { treatment, voice: voiceOf('args', settings), isExecuted: true });
  return reply(treatment, 'the arguments', args === given ? {} : { args });
}

/** Nothing says whose conversation a result belongs to: what would get a pseudonym is hashed. */
function afterExecution(response: JsonObject, { treat }: Desk): Reply {
  const treatment = treat();
  const content = requireText(response['content'], 'response.content');
  const edits = editText(content, { treatment, voice: 'original', isExecuted: false });
  return reply(treatment, 'the result', edits.length === 0 ? {} : { content: applyEdits(content, edits) });
}

/** A model's words: turned back for their reader, or left in pseudonyms. */
function voiceOf(place: RestorePlace, { restore }: PiiSettings): Voice {
  return restore.has(place) ? 'restored' : 'echo';
}

/** Counts, never values, go into the reason and the metadata. */
function reply({ changed, blocked, restored }: Treatment, what: string, replace: JsonObject): Reply {
  if (Object.keys(blocked).length > 0) {
    const reason = `${what} holds ${describeCounts(blocked)}`.replace('arguments holds', 'arguments hold');
    return { allow: false, reason, metadata: { pii: blocked } };
  }
  const metadata = { pii: changed, ...(Object.keys(restored).length > 0 && { restored }) };
  if (Object.keys(replace).length === 0) return { allow: true, metadata };
  return { allow: true, replace, metadata };
}
