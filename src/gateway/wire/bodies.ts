import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import type { ChatMessage, ToolListing } from '../../contract/provider.ts';
import type { TokenUsage, WireAnswer } from './codec.ts';
import { Edits, numberAt, openPlace, type Place } from './place.ts';
import { unwritable } from './refusal.ts';
import { isSameMessage, requireTold } from './replaced-messages.ts';
import { all, type Members, type Shape } from './shape.ts';

export interface RequestedTools {
  readonly listings: readonly ToolListing[];
  /** Applies the hooks' changes to the tools. Throws REPLY_MALFORMED for new tools. */
  write(changed: readonly ToolListing[], edits: Edits): void;
}

interface ToolForm {
  readonly lists: readonly string[];
  readonly hold: (tool: Place) => Place | undefined;
  readonly schema: 'parameters' | 'input_schema';
}

interface SentTool {
  readonly listing: ToolListing;
  readonly held: Place;
  readonly list: string;
  readonly index: number;
}

export function readTools(body: Place, form: ToolForm): RequestedTools {
  const sent = form.lists.flatMap((list) => readList(list, body, form));
  const listings = sent.map(({ listing }) => listing);
  return {
    listings,
    write: (changed, edits) => {
      if (changed !== listings && !isSameToTheDigit(changed, listings))
        writeTools(changed, { sent, body, form }, edits);
    },
  };
}

function readList(list: string, body: Place, { hold, schema }: ToolForm): SentTool[] {
  return (body.at(list)?.items ?? []).flatMap((place, index) => {
    const held = hold(place);
    const name = held?.at('name')?.text;
    if (held === undefined || name === undefined) return [];
    const description = held.at('description')?.text ?? '';
    const listing = { name, description, input_schema: held.at(schema)?.value ?? {} };
    return [{ listing, held, list, index }];
  });
}

function writeTools(
  changed: readonly ToolListing[],
  { sent, body, form }: { readonly sent: readonly SentTool[]; readonly body: Place; readonly form: ToolForm },
  edits: Edits,
): void {
  const wanted = new Map(changed.map((listing) => [listing.name, listing]));
  if (changed.some(({ name }) => !sent.some(({ listing }) => listing.name === name)))
    throw unwritable('a hook offers the model a tool that is not in the request');
  const gone = sent.filter(({ listing }) => !wanted.has(listing.name));
  for (const list of form.lists) {
    const place = body.at(list);
    const indexes = gone.filter((tool) => tool.list === list).map(({ index }) => index);
    if (place === undefined || indexes.length === 0) continue;
    if (indexes.length === place.items.length) edits.remove(body, list);
    else for (const index of indexes) edits.remove(place, index);
  }
  for (const { listing, held } of sent) {
    const now = wanted.get(listing.name);
    if (now === undefined) continue;
    if (now.description !== listing.description) put(held, 'description', now.description, edits);
    if (!isSameToTheDigit(now.input_schema, listing.input_schema))
      put(held, form.schema, now.input_schema, edits);
  }
}

function put(held: Place, key: string, value: unknown, edits: Edits): void {
  const place = held.at(key);
  const json = JSON.stringify(value);
  if (place === undefined) edits.addMember(held, key, json);
  else edits.replace(place, json);
}

interface TellingPart {
  readonly told: ChatMessage;
  /** Writes a hook's changes and returns the message that the written body must contain. Throws REPLY_MALFORMED. */
  write(changed: ChatMessage, edits: Edits): ChatMessage;
}

/** Reads the written body again to verify it. Throws REPLY_MALFORMED. */
export function writeMessages(
  body: string,
  parts: readonly TellingPart[],
  changed: readonly ChatMessage[],
  readAgain: (written: Place) => readonly ChatMessage[],
): string {
  if (changed.length !== parts.length) throw unwritable('the number of messages of an answer has changed');
  if (parts.every(({ told }, index) => isSameMessage(told, changed[index] ?? told))) return body;
  const edits = new Edits(body);
  const wanted = parts.map(({ told, write }, index) => {
    const message = changed[index] ?? told;
    return isSameMessage(told, message) ? message : write(message, edits);
  });
  const written = edits.apply();
  requireTold(readAgain(openPlace(written)), wanted);
  return written;
}

export function costOf(usage: TokenUsage | undefined) {
  return usage && { cost_info: { input_tokens: usage.input, output_tokens: usage.output } };
}

export type Extras = ReadonlyMap<string, Json>;

/** Adds members seen only in stream events to `other` of the message. A rewritten stream omits them. */
export function withExtras(answer: WireAnswer, extras: Extras): WireAnswer {
  const [message] = answer.messages;
  if (extras.size === 0 || message === undefined) return answer;
  const own = message['other'];
  const told = {
    ...message,
    other: toJson([...(own instanceof Json ? exactMembers(own) : []), ...extras]),
  };
  return {
    ...answer,
    messages: [told],
    write: (messages) => {
      const [changed, ...others] = messages;
      if (changed === undefined || others.length > 0) return answer.write(messages);
      if (isSameMessage(told, changed)) return answer.body;
      const body = answer.write([withoutExtras(changed, extras)]);
      // If only stream members changed, the body must still differ, so that the stream is rewritten without them.
      return body === answer.body ? `${body}\n` : body;
    },
  };
}

function withoutExtras(changed: ChatMessage, extras: Extras): ChatMessage {
  const { other } = changed;
  const json = other === undefined || other === null ? undefined : Json.from(other);
  if (json === undefined || !isObject(json.value)) return changed;
  const members = [...exactMembers(json)].filter(([name]) => !extras.has(name));
  return { ...changed, other: members.length === 0 ? undefined : toJson(members) };
}

function toJson(members: readonly (readonly [string, Json])[]): Json {
  return new Json(`{${members.map(([key, value]) => `${JSON.stringify(key)}:${value.text}`).join(',')}}`);
}

const figures: Members = all(
  'number',
  'accepted_prediction_tokens',
  'audio_tokens',
  'cache_creation_tokens',
  'cache_write_tokens',
  'cached_tokens',
  'completion_time',
  'completion_tokens',
  'cost',
  'image_tokens',
  'is_byok',
  'prompt_cache_hit_tokens',
  'prompt_cache_miss_tokens',
  'prompt_time',
  'prompt_tokens',
  'queue_time',
  'reasoning_tokens',
  'rejected_prediction_tokens',
  'text_tokens',
  'total_time',
  'total_tokens',
  'video_tokens',
);

export const openAiUsage: Shape = {
  members: {
    ...figures,
    prompt_tokens_details: { members: figures },
    completion_tokens_details: { members: figures },
  },
};

/** Returns undefined without counts. */
export function readOpenAiUsage(usage: Place | undefined): TokenUsage | undefined {
  const input = numberAt(usage, 'prompt_tokens');
  const output = numberAt(usage, 'completion_tokens');
  if (input === undefined && output === undefined) return undefined;
  const cachedInput = numberAt(usage?.at('prompt_tokens_details'), 'cached_tokens');
  return { input: input ?? 0, output: output ?? 0, ...(cachedInput !== undefined && { cachedInput }) };
}

const separator = '\n\n';

export function joinPrompt(texts: readonly string[]): string {
  return texts.join(separator);
}

/** Returns undefined if the split is ambiguous: separators moved and several texts changed. */
export function splitPrompt(texts: readonly string[], changed: string): readonly string[] | undefined {
  if (texts.length === 1) return [changed];
  const pieces = changed.split(separator);
  const counts = texts.map((text) => text.split(separator).length);
  if (counts.reduce((sum, count) => sum + count, 0) === pieces.length) {
    let at = 0;
    return counts.map((count) => {
      at += count;
      return joinPrompt(pieces.slice(at - count, at));
    });
  }
  const alone = texts.flatMap((_, index) => {
    const before = texts
      .slice(0, index)
      .map((text) => text + separator)
      .join('');
    const after = texts
      .slice(index + 1)
      .map((text) => separator + text)
      .join('');
    const fits =
      changed.startsWith(before) && changed.endsWith(after) && changed.length >= before.length + after.length;
    return fits ? [texts.with(index, changed.slice(before.length, changed.length - after.length))] : [];
  });
  return alone.length === 1 ? alone[0] : undefined;
}
