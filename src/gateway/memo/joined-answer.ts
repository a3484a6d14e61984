import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import { formatCount } from '../../base/text/format-count.ts';
import { parseMessage } from '../../calls/hooks/message.ts';
import type { Allow, Answer, Modify } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { withoutTextParts } from '../../dialects/text-parts.ts';
import { isSameMessage } from '../wire/replaced-messages.ts';
import type { PartVerdict, UnjudgedPart } from './judged-part.ts';

/** What a hook answered about a part of a request. */
export interface JoinedAnswer {
  /** As if the hook had been asked about the whole request. */
  readonly answer: Answer;
  /** What it made of what it was shown, to be remembered if the request is allowed. */
  readonly verdicts: readonly (readonly [name: string, verdict: PartVerdict])[];
}

/** Joins the answer to a part with what was not asked about. Throws REPLY_MALFORMED where that cannot be done exactly. */
export function joinAnswer(answer: Answer, part: UnjudgedPart): JoinedAnswer {
  if (answer.verdict === 'allow') return { answer, verdicts: verdictsOf(part, () => 'same') };
  if (answer.verdict === 'modify') return joinModify(answer, part);
  return { answer: { ...answer, metadata: withPlaceInWhole(answer.metadata, part) }, verdicts: [] };
}

function joinModify(answer: Modify, part: UnjudgedPart): JoinedAnswer {
  const members = new Map(exactMembers(answer.replace));
  if (members.has('system_prompt') && !part.hasSystemPrompt)
    throw malformed('it replaces a system prompt that it was not shown, because it had let it pass before');
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

/** Each message in the place of the one that was shown; or, where only the end was shown, any list in its place. */
function joinMessages(texts: readonly string[], { whole, indexes }: UnjudgedPart): Json {
  const kept = whole.messages.map((message) => stringifyJson(message));
  const first = indexes[0] ?? kept.length;
  if (texts.length === indexes.length)
    for (const [at, index] of indexes.entries()) kept[index] = texts[at] ?? 'null';
  else if (kept.length - first === indexes.length) kept.splice(first, indexes.length, ...texts);
  else
    throw malformed(
      `it was shown ${formatCount(indexes.length, 'message')} from among others and gives ${texts.length} in their place`,
    );
  return new Json(`[${kept.join(',')}]`);
}

function isUnchanged(sent: ChatMessage, text: string): boolean {
  return isSameMessage(sent, withoutTextParts(parseMessage(text), sent));
}

/** A verdict for each part that the hook was shown; `at` is its place among the shown messages, -1 for the prompt. */
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

/** `message_index`, which counts the messages that the hook was shown, as it counts those of the request. */
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
