import type { ToolListing } from '../../../contract/provider.ts';
import { Json } from '../../../json/json.ts';
import type { RequestPayload, WireRules } from '../codec.ts';
import { invalidRequest } from '../faults.ts';
import { Leftovers } from '../leftovers.ts';
import type { Place } from '../place.ts';
import { type RequestMessages, readMessages } from './request-messages.ts';
import { type RequestedTools, readTools } from './requested-tools.ts';
import { joinPrompt } from './system-prompt.ts';

/** Everything that hooks are told of a body, with what it takes to write it again. */
export interface ReadBody {
  readonly place: Place;
  readonly list: Place;
  readonly read: RequestMessages;
  readonly tools: RequestedTools;
  readonly leftovers: Leftovers;
  readonly payload: RequestPayload;
}

/** `promptCount` as in `readMessages`. */
export function readBody(place: Place, rules: WireRules, promptCount?: number): ReadBody {
  const list = place.at('messages');
  if (list?.kind !== 'array') throw invalidRequest('the body has no list of `messages`', 'messages');
  const leftovers = new Leftovers();
  leftovers.addMembers(place, toldOf(place));
  const read = readMessages(list, { rules, leftovers, promptCount });
  const tools = readTools(place);
  return { place, list, read, tools, leftovers, payload: payloadOf(place, { read, tools, leftovers }) };
}

function payloadOf(
  place: Place,
  { read, tools, leftovers }: Pick<ReadBody, 'read' | 'tools' | 'leftovers'>,
): RequestPayload {
  const messages = read.messages.map(({ told }) => told);
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const listings: readonly ToolListing[] = tools.listings;
  return {
    messages,
    system_prompt: joinPrompt(read.prompt).text,
    round: 1 + messages.slice(lastUser + 1).filter(({ role }) => role === 'assistant').length,
    tools: listings,
    options: {
      max_tokens: numberOf(place, 'max_completion_tokens') ?? numberOf(place, 'max_tokens'),
      temperature: numberOf(place, 'temperature'),
    },
    other: leftovers.json ?? new Json('{}'),
  };
}

/** The number of that member of a body. */
export function numberOf(place: Place, key: string): number | undefined {
  const value = place.at(key);
  return value?.kind === 'number' ? Number(value.value) : undefined;
}

/** Settings that choose by a number, or by true and false, and so hold no text. */
const settings = [
  'frequency_penalty',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'min_p',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'store',
  'temperature',
  'top_k',
  'top_logprobs',
  'top_p',
];

function toldOf(place: Place): ReadonlySet<string> {
  const told = new Set(['messages', 'model', 'stream']);
  for (const key of settings) if (isPlain(place.at(key))) told.add(key);
  const options = place.at('stream_options');
  const isKnown = ([key, value]: readonly [string, Place]) =>
    /^include_(?:usage|obfuscation)$/.test(key) && isPlain(value);
  if (options?.kind === 'null' || (options?.kind === 'object' && [...options.members].every(isKnown)))
    told.add('stream_options');
  return told;
}

function isPlain(value: Place | undefined): boolean {
  return (
    value !== undefined && (value.kind === 'number' || value.kind === 'boolean' || value.kind === 'null')
  );
}
