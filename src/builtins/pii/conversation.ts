import { isObject } from '../../base/json/json.ts';
import type { Anonymizer } from './anonymizer.ts';
import { applyEdits } from './edit.ts';
import { markKey } from './message-members.ts';
import { type MessageRewriteOptions, rewriteMessage } from './message-rewrite.ts';
import { type JsonObject, requireList, requireObject, requireText } from './payload.ts';
import type { PseudonymMemory } from './pseudonym-memory.ts';
import type { PseudonymResolver, Pseudonyms } from './pseudonyms.ts';
import { type PiiSettings, type ScanPlace, scanPlaces } from './settings.ts';
import type { TextSource } from './text-changer.ts';
import { editText, type RewriteOptions, rewriteTree } from './text-rewrite.ts';

/** The members of a provider request that had to be changed. */
export interface RewrittenRequest {
  readonly messages?: readonly JsonObject[];
  readonly system_prompt?: string;
  /** What else the body of a request over HTTP says, tool definitions among it. */
  readonly other?: unknown;
}

/**
 * Rewrites a provider request: the system prompt first, then the rest of its body, then the messages in their order,
 * so that every process numbers the pseudonyms alike, and a longer conversation those of a shorter one. Throws EVENT_INVALID.
 */
export function rewriteRequest(
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
export function markMessages(
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
export interface RevealerContext {
  readonly memory: PseudonymMemory;
  readonly now: number;
  /** Numbers the pseudonyms of the request again from its texts. */
  rebuild(): Pseudonyms;
}

/**
 * The source of the values behind the pseudonyms of this request's answer: the conversation whose mark the
 * request carries; else the real values in the request itself, then its session. Never another conversation.
 */
export function findRevealer(
  request: JsonObject,
  { memory, now, rebuild }: RevealerContext,
): PseudonymResolver {
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
export function sessionOf(request: JsonObject): string | undefined {
  const { metadata } = request;
  const id = isObject(metadata) ? metadata['session_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
