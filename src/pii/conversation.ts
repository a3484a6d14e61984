import { isObject } from '../json/json.ts';
import { applyEdits } from './edit.ts';
import type { Ledger } from './ledger.ts';
import { markKey } from './members.ts';
import type { Memory, Revealer } from './memory.ts';
import { type MessageRewriting, rewriteMessage } from './message.ts';
import { editText } from './rewrite.ts';
import type { PiiSettings } from './settings.ts';
import { type JsonObject, requireList, requireObject, requireText } from './shape.ts';
import type { Treatment, Voice } from './treatment.ts';

/** The members of a provider request that had to be changed. */
export interface RewrittenRequest {
  readonly messages?: readonly JsonObject[];
  readonly system_prompt?: string;
}

/**
 * Rewrites what a model is about to read: the system prompt first, then the messages in their order, so that
 * pseudonyms are numbered the same whoever does it. Throws EVENT_INVALID.
 */
export function rewriteRequest(
  request: JsonObject,
  treatment: Treatment,
  { restore }: PiiSettings,
): RewrittenRequest {
  const original: MessageRewriting['said'] = { treatment, voice: 'original', isExecuted: false };
  const prompt = requireText(request['system_prompt'], 'system_prompt');
  const promptEdits = editText(prompt, original);
  const given = requireList(request['messages'], 'messages');
  const messages = given.map((message) => {
    const { role } = requireObject(message, 'a message');
    // What was turned back when it came is an original again; what was not still speaks in pseudonyms.
    const args: Voice = restore.has('args') ? 'original' : 'echo';
    const answer: Voice = restore.has('answer') ? 'original' : 'echo';
    const said: Voice = role === 'assistant' ? answer : role === 'tool' ? args : 'original';
    return rewriteMessage(message, {
      said: { ...original, voice: said },
      args: { ...original, voice: args },
    });
  });
  return {
    ...(messages.some((message, index) => message !== given[index]) && { messages }),
    ...(promptEdits.length > 0 && { system_prompt: applyEdits(prompt, promptEdits) }),
  };
}

/** The messages with the mark of their conversation on the last one of those that were changed. */
export function markMessages(
  messages: readonly JsonObject[],
  given: readonly unknown[],
  mark: string,
): readonly JsonObject[] {
  const last = messages.findLastIndex((message, index) => message !== given[index]);
  return messages.map((message, index) => {
    if (index !== last) return message;
    const { meta } = message;
    return { ...message, meta: { ...(isObject(meta) ? meta : {}), [markKey]: mark } };
  });
}

/** Where the values of a request's pseudonyms may be found, and how a request says which conversation it is. */
export interface Recall {
  readonly memory: Memory;
  readonly now: number;
  /** Numbers the pseudonyms of the request anew. */
  rebuild(): Ledger;
}

/**
 * What knows the values behind the pseudonyms of this request's answer. A request that has come back as it was
 * sent carries the mark of its conversation; one with the real values tells them itself; else its session may
 * know. Never the values of another conversation.
 */
export function recall(request: JsonObject, { memory, now, rebuild }: Recall): Revealer {
  const marked = markOf(request);
  const conversation = marked === undefined ? undefined : memory.conversation(marked, now);
  if (conversation !== undefined) return conversation;
  const session = sessionOf(request);
  const known = session === undefined ? undefined : memory.session(session, now);
  return { reveal: (mention) => rebuild().reveal(mention) ?? known?.reveal(mention) };
}

function markOf(request: JsonObject): string | undefined {
  const messages = requireList(request['messages'], 'messages');
  for (const message of messages.toReversed()) {
    const meta = isObject(message) ? message['meta'] : undefined;
    const mark = isObject(meta) ? meta[markKey] : undefined;
    if (typeof mark === 'string') return mark;
  }
  return undefined;
}

/** The session that the request's metadata names. */
export function sessionOf(request: JsonObject): string | undefined {
  const { metadata } = request;
  const id = isObject(metadata) ? metadata['session_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
