import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { findDuplicateKey } from '../../base/json/duplicate-key.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { elementsOf, exactMembers, membersOf } from '../../base/json/scan.ts';
import {
  type Abort,
  type Allow,
  type Answer,
  type Ask,
  type Decision,
  type Deny,
  type HookEvent,
  type Modify,
  type Respond,
  type ToolHookResponse,
  withoutFaultText,
} from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { failedOpenIn, mergeMetadata, noMetadata } from '../../dialects/metadata.ts';
import { withoutTextParts, withTextParts } from '../../dialects/text-parts.ts';
import { resultFrom } from './call-result.ts';
import { parseMessage, partFields, textsAt, withTextAt } from './message.ts';
import { applyToTurn, readModelChanges } from './replace-turn.ts';

/** Says what is wrong with an event that a filter has changed; undefined when nothing is. */
export type EventCheck = (event: HookEvent) => string | undefined;

/** The hook that gave an answer, and its dialect. */
export interface DecidedBy {
  readonly hook: string | null;
  readonly dialect: string;
  /** Whether its `allow` is an explicit approval. */
  readonly isApproval?: boolean;
}

type StoppingAnswer = Deny | Ask | Respond | Abort;

/** The state of one event as it passes through the filters. */
export class HookChain {
  event: HookEvent;
  /** The answer that ended the chain. */
  #stopped: { readonly by: DecidedBy; readonly answer: StoppingAnswer } | undefined;
  #modifier: DecidedBy | undefined;
  /** The hook whose `allow` was an explicit approval. */
  #approver: DecidedBy | undefined;
  #reason = '';
  /** Made with the first replacement, since most chains have none. */
  #replaced: Map<string, Json> | undefined;
  /** The hooks that forced a further model call with `follow_up`. */
  readonly #forcedBy: DecidedBy[] = [];
  readonly #metadata: Json[] = [];
  readonly #context: string[] = [];

  constructor(event: HookEvent) {
    this.event = event;
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  get respond(): Respond | undefined {
    const answer = this.#stopped?.answer;
    return answer?.verdict === 'respond' ? answer : undefined;
  }

  /** Throws REPLY_MALFORMED when a replacement does not fit the event. */
  takeAnswer(by: DecidedBy, answer: Allow | Modify, check: EventCheck | undefined): void {
    if (answer.verdict === 'modify') this.#modify(by, answer, check);
    else if (by.isApproval === true) this.#approver = by;
    this.#metadata.push(answer.metadata);
    if (answer.context !== undefined) this.#context.push(...answer.context);
    if (answer.reason !== '') this.#reason = answer.reason;
  }

  stop(by: DecidedBy, answer: StoppingAnswer): void {
    this.#context.push(...(answer.context ?? []));
    this.#stopped ??= { by, answer };
  }

  /** Lets the event pass after a person has approved the question of a hook. */
  takeApproved({ metadata, context = [] }: Ask): void {
    this.#metadata.push(metadata);
    this.#context.push(...context);
  }

  #modify(by: DecidedBy, { replace }: Modify, check: EventCheck | undefined): void {
    const { event, parts } = replaceOrRefuse(this.event, replace);
    const problem = check?.(event);
    if (problem !== undefined) throw new RuntimeError('REPLY_MALFORMED', problem);
    this.event = event;
    this.#modifier = by;
    for (const [key, part] of parts) {
      if (event.phase === 'stop' && key === 'follow_up') this.#force(by, part);
      else this.#put(key, part);
    }
  }

  /** Joins the `follow_up` texts of all hooks as paragraphs. */
  #force(by: DecidedBy, text: Json): void {
    const before = this.#replaced?.get('follow_up');
    this.#forcedBy.push(by);
    const texts = [before, text].flatMap((each) => (each === undefined ? [] : [String(each.value)]));
    this.#put('follow_up', Json.from(texts.join('\n\n')));
  }

  #put(key: string, part: Json): void {
    this.#replaced ??= new Map();
    this.#replaced.set(key, part);
  }

  get forcedBy(): readonly DecidedBy[] {
    return this.#forcedBy;
  }

  decide(): Decision {
    const modified = this.#modifier !== undefined;
    const replace = modified ? Json.from(Object.fromEntries(this.#replaced ?? [])) : null;
    if (this.#stopped !== undefined) {
      const { by, answer } = this.#stopped;
      const metadata = withFailedOpen(answer.metadata, this.#metadata);
      return decideStopped(
        by,
        { ...answer, metadata },
        { event: this.event, context: this.#context, replace },
      );
    }
    const decider = this.#modifier ?? this.#approver;
    return {
      verdict: modified ? 'modify' : 'allow',
      hook: decider?.hook ?? null,
      dialect: decider?.dialect ?? null,
      reason: this.#reason,
      enforced: false,
      replace,
      result: null,
      context: this.#context,
      abort: null,
      metadata: mergeMetadata(this.#metadata),
    };
  }
}

/** The decision about an event that no hook hears of. */
export const allowed: Decision = {
  ...{ verdict: 'allow', hook: null, dialect: null, reason: '', enforced: false },
  ...{ replace: null, result: null, context: [], abort: null, metadata: noMetadata },
};

/** The metadata of the stopping answer, with the `failed_open` entries of earlier hooks added. */
function withFailedOpen(metadata: Json, before: readonly Json[]): Json {
  const failures = before.filter((each) => failedOpenIn(each).length > 0);
  if (failures.length === 0) return metadata;
  const { failed_open } = membersOf(mergeMetadata([...failures, metadata]));
  return Json.from({ ...membersOf(metadata), failed_open });
}

function replaceOrRefuse(event: HookEvent, replace: Json): Replaced {
  try {
    return applyReplace(event, replace);
  } catch (error) {
    throw toRuntimeError(error, 'REPLY_MALFORMED');
  }
}

const withheldText = 'This response was withheld by a guardrail.';

interface ChainState {
  readonly event: HookEvent;
  readonly context: readonly string[];
  readonly replace: Json | null;
}

function decideStopped(
  by: DecidedBy,
  answer: StoppingAnswer,
  { event, context, replace }: ChainState,
): Decision {
  const decision = { ...decisionOf(by, answer), context };
  // A person is asked about the event with the replacements so far.
  if (decision.replace !== null) return { ...decision, replace };
  // Only a model's answer has a stand-in; at a tool's phases an enforced denial is a plain one.
  if (answer.verdict !== 'deny' || !answer.enforced || event.hook !== 'provider') return decision;
  return { ...decision, enforced: true, result: Json.from(standIn(answer.metadata)) };
}

/** One answer as a decision, which repeats nothing that a failed hook has written. */
export function decisionOf({ hook, dialect }: Pick<Decision, 'hook' | 'dialect'>, given: Answer): Decision {
  const answer = withoutFaultText(given);
  const { verdict, reason, metadata, context = [] } = answer;
  const error = verdict === 'deny' || verdict === 'abort' ? answer.error : undefined;
  return {
    ...{ verdict, hook, dialect, reason, enforced: false },
    replace: verdict === 'modify' || verdict === 'ask' ? (answer.replace ?? null) : null,
    result: verdict === 'respond' ? answer.result : null,
    context,
    abort: verdict === 'abort' ? answer.scope : null,
    metadata,
    ...(error && { error }),
  };
}

function standIn(metadata: Json): string {
  const { value } = metadata;
  const replacement = isObject(value) ? value['replacement'] : undefined;
  return typeof replacement === 'string' ? replacement : withheldText;
}

/** An event with parts of it replaced, and the replaced parts as JSON. */
interface Replaced {
  readonly event: HookEvent;
  readonly parts: ReadonlyMap<string, Json>;
}

/**
 * Puts what a filter replaced into its event. Throws Error when the changes contradict each other, or when
 * two readers could read them differently.
 */
export function applyReplace(event: HookEvent, replace: Json): Replaced {
  const parts = new Map(exactMembers(replace));
  switch (event.phase) {
    case 'request': {
      const changes = changeRequest(event.turn, parts);
      return { event: { ...event, turn: { ...event.turn, ...changes } }, parts };
    }
    case 'before_call': {
      const changes = { ...changeRequest(event.request, parts), ...changeOther(event.request, parts) };
      return { event: { ...event, request: { ...event.request, ...changes } }, parts };
    }
    case 'after_call': {
      const given = parseMessages(parts.get('message'));
      const [message] = reconcileMessages([event.response.message], given ?? []);
      if (message === undefined) return { event, parts };
      if (message !== given?.[0]) parts.set('message', Json.from(message));
      return { event: { ...event, response: { ...event.response, message } }, parts };
    }
    case 'before_execution':
    case 'approval': {
      const args = parts.get('args');
      const name = parts.get('name')?.value;
      const duplicate = args === undefined ? undefined : findDuplicateKey(args.text);
      if (duplicate !== undefined) throw new Error(`the replaced argument "${duplicate}" stands twice`);
      const changes = { ...(args && { args }), ...(typeof name === 'string' && { name }) };
      return { event: { ...event, request: { ...event.request, ...changes } }, parts };
    }
    case 'blocked':
    case 'after_execution': {
      const content = parts.get('content');
      if (content === undefined) return { event, parts };
      return { event: { ...event, response: withText(event.response, String(content.value)) }, parts };
    }
    default:
      return { event: event.hook === 'turn' ? applyToTurn(event, parts) : event, parts };
  }
}

/** The response with the new content; its result is derived from that content, not kept. */
function withText({ result, ...response }: ToolHookResponse, content: string): ToolHookResponse {
  if (result === undefined) return { ...response, content };
  return { ...response, content, result: resultFrom(result, content) };
}

/** The changes of a filter to a model call. Reconciled messages are written back to `parts`. */
function changeRequest({ messages: sent }: Pick<ProviderRequest, 'messages'>, parts: Map<string, Json>) {
  const prompt = parts.get('system_prompt');
  const given = parseMessages(parts.get('messages'));
  const messages = given && reconcileMessages(sent, given);
  if (messages?.some((message, index) => message !== given?.[index])) {
    parts.set('messages', Json.from(messages));
  }
  return {
    ...(messages && { messages }),
    ...(prompt && { system_prompt: String(prompt.value) }),
    ...readModelChanges(parts),
  };
}

/** The rest of a body as a filter left it. Throws Error where there is none. */
function changeOther({ other: sent }: ProviderRequest, parts: ReadonlyMap<string, Json>) {
  const other = parts.get('other');
  if (other === undefined) return {};
  if (sent === undefined) throw new Error('this request has no `other` that could be replaced');
  const duplicate = findDuplicateKey(other.text);
  if (duplicate !== undefined) throw new Error(`the replaced \`other\` has "${duplicate}" twice`);
  return { other };
}

/** One message, or those of a list. */
function parseMessages(given: Json | undefined) {
  if (given === undefined) return undefined;
  if (isObject(given.value)) return [parseMessage(given.text)];
  return elementsOf(given).map(({ text }) => parseMessage(text));
}

/**
 * Brings `content` and the text of the parts of replaced messages together again: a filter may change the
 * text in either place, and the changed copy wins. A message that needs no change is returned as it is.
 * Throws Error when copies were changed differently, or when the changed copy cannot be determined.
 */
export function reconcileMessages(
  originals: readonly ChatMessage[],
  replaced: readonly ChatMessage[],
): ChatMessage[] {
  const sent = originals.map(withTextParts);
  const given = new Map(sent.map((message, index) => [message, originals[index]]));
  const findOriginals = createTextIndex(sent);
  const firstWithoutParts = originals.find((original, index) => original !== sent[index]);
  return replaced.map((message, index) => {
    const places = placesOf(message);
    if (places.length === 0) return message;
    // In a list of the same length a message replaces the one at its position; else it may replace any.
    const samePosition = sent.length === replaced.length ? sent[index] : undefined;
    const isAgreed = places.every(({ texts }) => matchesContent(message.content, texts));
    const candidates =
      samePosition !== undefined && sharesText(samePosition, message)
        ? [samePosition]
        : findOriginals(message);
    const reconciled = isAgreed ? message : reconcile(message, candidates);
    // A message that had no parts before gets none, even if the hook added them.
    const [candidate = samePosition] = candidates;
    const original = candidate === undefined ? firstWithoutParts : given.get(candidate);
    return original === undefined ? reconciled : withoutTextParts(reconciled, original);
  });
}

/** Finds the original messages that share a copy of the text; of identical ones only the first. */
function createTextIndex(sent: readonly ChatMessage[]): (message: ChatMessage) => readonly ChatMessage[] {
  let index: Map<string, Map<string, ChatMessage>> | undefined;
  return (message) => {
    index ??= buildIndex(sent);
    const found = keysOf(message).flatMap((key) => [...(index?.get(key)?.values() ?? [])]);
    return [...new Set(found)];
  };
}

function buildIndex(sent: readonly ChatMessage[]): Map<string, Map<string, ChatMessage>> {
  const index = new Map<string, Map<string, ChatMessage>>();
  for (const message of sent) {
    const keys = keysOf(message);
    const identity = JSON.stringify(keys);
    for (const key of keys) {
      const same = index.get(key) ?? new Map<string, ChatMessage>();
      if (!same.has(identity)) same.set(identity, message);
      index.set(key, same);
    }
  }
  return index;
}

function keysOf(message: ChatMessage): string[] {
  const places = placesOf(message).filter(({ texts }) => texts.length > 0);
  const copies = places.map(({ place: field, texts }) => JSON.stringify([field, texts]));
  return message.content === '' ? copies : [JSON.stringify(message.content), ...copies];
}

function reconcile(message: ChatMessage, candidates: readonly ChatMessage[]): ChatMessage {
  if (candidates.length === 0) return requireAgreement(message);
  const texts = new Set(candidates.map((original) => changedText(original, message)));
  const [text] = texts;
  if (texts.size > 1) throw new Error('nothing tells which text of a replaced message was changed');
  if (text === undefined) return message;
  const places = placesOf(message).filter(({ texts }) => !matchesContent(text, texts));
  return places.reduce((changed, { place: field }) => withTextAt(changed, field, text), {
    ...message,
    content: text,
  });
}

/** A new message may have parts without text beside its content, but not parts with another text. */
function requireAgreement(message: ChatMessage): ChatMessage {
  const fits = placesOf(message).every(
    ({ texts }) => texts.length === 0 || matchesContent(message.content, texts),
  );
  if (fits) return message;
  throw new Error('a replaced message says one thing in `content` and another in its parts');
}

/** The text of the copies that differ from the original's; undefined when none does. */
function changedText(original: ChatMessage, message: ChatMessage): string | undefined {
  const changed = placesOf(message)
    .filter(({ place: field, texts }) => !isSameText(texts, textsAt(original, field) ?? []))
    .map(({ texts }) => texts.join(''));
  if (message.content !== original.content) changed.push(message.content);
  if (new Set(changed).size > 1) {
    throw new Error('a replaced message says one thing in `content` and another in its parts');
  }
  return changed[0];
}

/** Whether the message shares its content, or the text of its parts, with the original. */
function sharesText(original: ChatMessage, message: ChatMessage): boolean {
  if (message.content !== '' && message.content === original.content) return true;
  return placesOf(message).some(
    ({ place: field, texts }) => texts.length > 0 && isSameText(texts, textsAt(original, field) ?? []),
  );
}

function placesOf(message: ChatMessage) {
  return partFields.flatMap((field) => {
    const texts = textsAt(message, field);
    return texts === undefined ? [] : [{ place: field, texts }];
  });
}

function matchesContent(content: string, texts: readonly string[]): boolean {
  return content === texts.join('') || content === texts.join('\n');
}

function isSameText(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
