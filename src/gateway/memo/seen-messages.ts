import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { FilterPort } from '../../calls/capability/hook.ts';
import { type FilterLink, isFilter, type Link } from '../../calls/hooks/links.ts';
import { parseMessage } from '../../calls/hooks/replace.ts';
import type { Allow, Answer, Modify, NativeEvent } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import { withoutTextParts } from '../../dialects/text-parts.ts';
import type { Message, Transport } from '../../process/transport.ts';
import type { SeenMessages } from '../ports.ts';
import { isSameMessage } from '../wire/replaced-messages.ts';
import type { Marks, Memo } from './memo.ts';
import { createHookIdentities, namesOfPrefixes } from './memo-key.ts';

interface SeenMessagesOptions {
  readonly memo: Pick<Memo, 'isShared' | 'key' | 'marks'>;
  /** By hook name. Hooks that are missing judge all messages. */
  readonly judge: ReadonlyMap<string, 'all' | 'new'>;
}

/** Remembers what hooks with `judge: new` allowed, per caller and per version of a hook. */
export function openSeenMessages({ memo, judge }: SeenMessagesOptions): SeenMessages {
  const identities = createHookIdentities(memo);
  const judgesNew = (link: Link): link is FilterLink =>
    isFilter(link) &&
    link.kind === 'provider' &&
    link.phases.includes('before_call') &&
    judge.get(link.name) === 'new';
  return {
    watch: (caller, links) => {
      if (judge.size === 0 || !links.some(judgesNew)) return { links, remember: () => {} };
      const verdicts = new Map<string, PartVerdict>();
      const shorteningOf = ({ name, listener }: FilterLink): Shortening => {
        const namesOf = (request: ProviderRequest) => {
          const judgeName = `${name}\n${identities.of(listener.port.binding)}`;
          return namesOfPrefixes(memo.key, { keyId: caller.keyId ?? '', judge: judgeName }, request);
        };
        const { load } = memo.marks;
        return {
          ...(load && { prepare: async (request) => await load(namesOf(request)) }),
          shorten: (request) => findUnjudgedPart(request, namesOf(request), memo.marks),
          note: (noted) => {
            for (const [prefix, verdict] of noted) verdicts.set(prefix, verdict);
          },
        };
      };
      return {
        links: links.map((link) => (judgesNew(link) ? shortenLink(link, shorteningOf(link)) : link)),
        remember: () => memo.marks.keep([...verdicts]),
      };
    },
  };
}

interface Shortening {
  prepare?: ((request: ProviderRequest) => Promise<void>) | undefined;
  shorten(request: ProviderRequest): UnjudgedPart;
  note(verdicts: readonly (readonly [name: string, verdict: PartVerdict])[]): void;
}

/** Shows a filter only a part of the request and converts its answer to one about the whole request. */
function shortenLink(link: FilterLink, shortening: Shortening): FilterLink {
  const { listener } = link;
  return { ...link, listener: { ...listener, port: shortenPort(listener.port, shortening) } };
}

function shortenPort(port: FilterPort, { prepare, shorten, note }: Shortening): FilterPort {
  const { codec, transport } = port;
  // Decoding needs the part that was encoded for the same event.
  const parts = new WeakMap<NativeEvent, UnjudgedPart>();
  const encode = (event: NativeEvent): Message => {
    if (event.phase !== 'before_call') return codec.encode(event);
    const part = shorten(event.request);
    parts.set(event, part);
    return codec.encode({ ...event, request: part.shown });
  };
  const late = prepare && encodeLate(transport, { prepare, encode });
  return {
    ...port,
    ...(late && { transport: late.transport }),
    codec: {
      encode: late?.encode ?? encode,
      decode: (reply, event) => {
        const part = parts.get(event);
        if (part === undefined || event.phase !== 'before_call') return codec.decode(reply, event);
        const { output, notes } = codec.decode(reply, { ...event, request: part.shown });
        const { answer, verdicts } = joinAnswer(output, part);
        note(verdicts);
        return { output: answer, notes };
      },
    },
  };
}

/** The part is known only after asynchronous preparation, so a placeholder represents the message until it is sent. */
function encodeLate(
  transport: Transport,
  {
    prepare,
    encode,
  }: {
    readonly prepare: NonNullable<Shortening['prepare']>;
    readonly encode: (event: NativeEvent) => Message;
  },
) {
  const waiting = new WeakMap<Message, NativeEvent>();
  const late: Transport = {
    ...(transport.notify && { notify: (message, signal) => notifyOver(transport, message, signal) }),
    ...(transport.startCount && { startCount: () => transport.startCount?.() ?? 0 }),
    warm: () => transport.warm(),
    close: () => transport.close(),
    exchange: async (message, signal, clock) => {
      const event = waiting.get(message);
      if (event?.phase === 'before_call') await prepare(event.request);
      return await transport.exchange(event === undefined ? message : encode(event), signal, clock);
    },
  };
  return {
    transport: late,
    encode: (event: NativeEvent): Message => {
      const placeholder: Message = { method: '', body: '' };
      waiting.set(placeholder, event);
      return placeholder;
    },
  };
}

async function notifyOver(transport: Transport, message: Message, signal?: AbortSignal): Promise<void> {
  await transport.notify?.(message, signal);
}

interface JoinedAnswer {
  readonly answer: Answer;
  readonly verdicts: readonly (readonly [name: string, verdict: PartVerdict])[];
}

/** Throws REPLY_MALFORMED if the answer about the part cannot be applied exactly to the whole request. */
function joinAnswer(answer: Answer, part: UnjudgedPart): JoinedAnswer {
  if (answer.verdict === 'allow') return { answer, verdicts: verdictsOf(part, () => 'same') };
  if (answer.verdict === 'modify') return joinModify(answer, part);
  return { answer: { ...answer, metadata: withPlaceInWhole(answer.metadata, part) }, verdicts: [] };
}

function joinModify(answer: Modify, part: UnjudgedPart): JoinedAnswer {
  const members = new Map(exactMembers(answer.replace));
  if (members.has('system_prompt') && !part.hasSystemPrompt)
    throw malformed(
      'it replaces a system prompt that it did not receive, because it allowed that prompt before',
    );
  const given = members.get('messages');
  const isPromptChanged = members.has('system_prompt');
  if (given === undefined) {
    const verdicts = verdictsOf(part, (place) => (place === 0 && isPromptChanged ? 'changed' : 'same'));
    return { answer, verdicts };
  }
  const texts = elementsOf(given).map(({ text }) => text);
  members.set('messages', joinMessages(texts, part));
  const isInPlace = texts.length === part.indexes.length;
  const isSame = part.indexes.map((index, at) => {
    const [sent, text] = [part.whole.messages[index], texts[at]];
    return isInPlace && sent !== undefined && text !== undefined && isUnchanged(sent, text);
  });
  const verdicts = verdictsOf(part, (place, at) => {
    if (place === 0) return isPromptChanged ? 'changed' : 'same';
    return isSame[at] === true ? 'same' : 'changed';
  });
  const joined: Allow | Modify = { ...answer, replace: Json.from(Object.fromEntries(members)) };
  return { answer: joined, verdicts };
}

/** Replaces each shown message in place. If only the end was shown, any number of messages may replace it. */
function joinMessages(texts: readonly string[], { whole, indexes }: UnjudgedPart): Json {
  const kept = whole.messages.map((message) => stringifyJson(message));
  const first = indexes[0] ?? kept.length;
  if (texts.length === indexes.length)
    for (const [at, index] of indexes.entries()) kept[index] = texts[at] ?? 'null';
  else if (kept.length - first === indexes.length) kept.splice(first, indexes.length, ...texts);
  else
    throw malformed(
      `it received ${formatCount(indexes.length, 'message')} of several, but answered with ${texts.length}`,
    );
  return new Json(`[${kept.join(',')}]`);
}

function isUnchanged(sent: ChatMessage, text: string): boolean {
  return isSameMessage(sent, withoutTextParts(parseMessage(text), sent));
}

function verdictsOf(
  { names, hasSystemPrompt, indexes }: UnjudgedPart,
  verdictOf: (place: number, at: number) => PartVerdict,
): readonly (readonly [string, PartVerdict])[] {
  const places = [
    ...(hasSystemPrompt ? [{ place: 0, at: -1 }] : []),
    ...indexes.map((index, at) => ({ place: index + 1, at })),
  ];
  return places.map(({ place, at }) => [names[place] ?? '', verdictOf(place, at)] as const);
}

/** Converts `message_index` from an index of the shown messages to an index of the request's. */
function withPlaceInWhole(metadata: Json, { indexes }: UnjudgedPart): Json {
  const { value } = metadata;
  const given = isObject(value) ? value['message_index'] : undefined;
  const at = given === undefined && indexes.length === 1 ? 0 : given;
  const index = typeof at === 'number' ? indexes[at] : undefined;
  if (index === undefined) return metadata;
  return Json.from({ ...Object.fromEntries(exactMembers(metadata)), message_index: index });
}

function malformed(what: string): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', what, {
    hint: 'Let the hook judge all messages: take it out of spec.gateway.judge.',
  });
}

type PartVerdict = 'same' | 'changed';

interface UnjudgedPart {
  readonly whole: ProviderRequest;
  readonly names: readonly string[];
  readonly hasSystemPrompt: boolean;
  /** The indexes of the shown messages, in order. Always includes the last message. */
  readonly indexes: readonly number[];
  readonly shown: ProviderRequest;
}

/** Omits what the hook allowed unchanged. What it changed is shown again, so that it changes it again. */
function findUnjudgedPart(whole: ProviderRequest, names: readonly string[], marks: Marks): UnjudgedPart {
  const verdicts = names.map((name) => marks.find(name));
  const { messages } = whole;
  // After a missing mark nothing counts as known, because it was judged in a context that is now unknown.
  const unknown = verdicts.indexOf(undefined);
  const known = unknown === -1 ? verdicts.length : unknown;
  const isSettled = (place: number) => place < known && verdicts[place] === 'same';
  const indexes = messages.flatMap((_, index) =>
    isSettled(index + 1) && index < messages.length - 1 ? [] : [index],
  );
  const hasSystemPrompt = !isSettled(0);
  const shown = {
    ...whole,
    messages: pick(messages, indexes),
    ...(!hasSystemPrompt && { system_prompt: '' }),
  };
  return { whole, names, hasSystemPrompt, indexes, shown };
}

function pick(messages: readonly ChatMessage[], indexes: readonly number[]): readonly ChatMessage[] {
  return indexes.flatMap((index) => messages[index] ?? []);
}
