import type { ChatMessage } from '../../../../contract/provider.ts';
import { Json } from '../../../../json/json.ts';
import type { AnswerToolCall, TokenUsage, WireAnswer, WireRules } from '../../codec.ts';
import { Edits } from '../../edits.ts';
import { invalidAnswer, unknownInAnswer, unwritable } from '../../faults.ts';
import { Leftovers } from '../../leftovers.ts';
import type { Place } from '../../place.ts';
import { isSameMessage } from '../../replaced-messages.ts';
import { openStrictly } from '../../strict-json.ts';
import { readBlocks } from '../blocks/block-reader.ts';
import { describeCall, describeTold } from '../blocks/describe.ts';
import type { ReadContext } from '../blocks/read-context.ts';
import { collectLeftovers } from '../blocks/shapes.ts';
import { startTold, type ToldContent } from '../blocks/told-content.ts';
import { requireWritten } from '../blocks/written-check.ts';
import { writeMessage } from '../blocks/written-message.ts';
import { answerShape, countShape } from './answer-shape.ts';
import { finishWord, isStopReason, stopReasonOf } from './finish-words.ts';

/** The body of a message that is an answer. Throws RefusedCall (502). */
export function readMessagesAnswer(body: string, rules: WireRules): WireAnswer {
  const root = openAnswer(body);
  if (root.at('type')?.text !== 'message') throw invalidAnswer('it is no message');
  const list = root.at('content');
  if (list?.kind !== 'array') throw invalidAnswer('`content` is not a list');
  const told = startTold(list);
  readBlocks({ list, path: 'content', fullPath: 'content' }, told, answerContext(rules));
  collectLeftovers(root, answerShape, '', told.leftovers);
  const usage = usageOf(root.at('usage'));
  const stop = root.at('stop_reason');
  if (stop !== undefined && stop.kind !== 'null' && stop.kind !== 'string')
    throw invalidAnswer('`stop_reason` is no text');
  const message: ChatMessage = {
    role: 'assistant',
    ...describeTold(told),
    finish_reason: finishWord(stop?.text),
    ...(usage && { cost_info: { input_tokens: usage.input, output_tokens: usage.output } }),
  };
  return {
    body,
    messages: [message],
    usage,
    toolCalls: clientCalls(told),
    write: (changed) => {
      const written = writeAnswer({ root, told, message }, changed);
      if (written !== body) requireWritten(readMessagesAnswer(written, rules).messages, changed);
      return written;
    },
  };
}

/** The body of a count of tokens: figures, which hooks are not asked about unless something else stands beside them. */
export function readCount(body: string): WireAnswer {
  const root = openAnswer(body);
  const leftovers = new Leftovers();
  collectLeftovers(root, countShape, '', leftovers);
  const messages: ChatMessage[] = leftovers.isEmpty
    ? []
    : [{ role: 'assistant', content: '', other: leftovers.json }];
  return {
    body,
    messages,
    usage: undefined,
    toolCalls: [],
    write: (changed) => {
      const [message] = messages;
      const [given] = changed;
      if (message === undefined || given === undefined || isSameMessage(message, given)) return body;
      if (given.content !== '') throw unwritable('a count of tokens has no text that could be replaced');
      const edits = new Edits(body);
      leftovers.write(given['other'], edits);
      leftovers.dropCopies(edits, true);
      return edits.apply();
    },
  };
}

function openAnswer(body: string): Place {
  const root = openStrictly(body, (problem) => invalidAnswer(`it ${problem}`));
  if (root.kind !== 'object') throw invalidAnswer('it is no object');
  return root;
}

export function answerContext(rules: WireRules): ReadContext {
  return {
    rules,
    isAnswer: true,
    malformed: (path) => invalidAnswer(`${path} is not what the API gives there`),
    unknown: (_, path) => unknownInAnswer(path),
    reference: (path) => unknownInAnswer(path),
  };
}

/** Calls that the client is to run, by their index among all of the message. */
function clientCalls({ calls }: ToldContent): AnswerToolCall[] {
  return calls.flatMap((position, index) => {
    if (position.block.at('type')?.text !== 'tool_use') return [];
    const { id, name, args } = describeCall(position);
    return [{ callId: id, name, args: Json.from(args), choice: 0, index }];
  });
}

/** All input counts, cached or not: the API gives the cached apart. */
function usageOf(usage: Place | undefined): TokenUsage | undefined {
  if (usage?.kind !== 'object') return undefined;
  const count = (key: string): number => {
    const value = usage.at(key)?.value;
    return typeof value === 'number' ? value : 0;
  };
  const cachedInput = count('cache_read_input_tokens');
  return {
    input: count('input_tokens') + count('cache_creation_input_tokens') + cachedInput,
    output: count('output_tokens'),
    ...(cachedInput > 0 && { cachedInput }),
  };
}

interface ReadAnswer {
  readonly root: Place;
  readonly told: ToldContent;
  readonly message: ChatMessage;
}

function writeAnswer({ root, told, message }: ReadAnswer, changed: readonly ChatMessage[]): string {
  const [given, ...others] = changed;
  if (given === undefined || others.length > 0) throw unwritable('an answer is one message');
  if (isSameMessage(message, given)) return root.source;
  const edits = new Edits(root.source);
  const plain = writeMessage(given, { message, told, isAnswer: true, own: answerMembers }, edits);
  writeStopReason(plain, { root, told, message }, edits);
  return edits.apply();
}

const answerMembers = new Set(['finish_reason', 'cost_info']);

/** The reason that the message gives, made to agree with the calls that are left. */
function writeStopReason(
  plain: Readonly<Record<string, unknown>>,
  { root, told, message }: ReadAnswer,
  edits: Edits,
): void {
  const stop = root.at('stop_reason');
  const old = stop?.text;
  // A text that is no reason of the API goes unless the hook repeats it.
  const unsaid = old === undefined || isStopReason(old) ? message['finish_reason'] : 'stop';
  const given = plain['finish_reason'] ?? unsaid;
  const named = given === message['finish_reason'] ? old : stopReasonOf(given);
  const asks = keepsClientCall(plain['tool_calls'], told);
  const adapted = named === 'tool_use' && !asks && clientCalls(told).length > 0 ? 'end_turn' : named;
  if (adapted === old) return;
  if (stop === undefined || adapted === undefined)
    throw unwritable('an answer has no reason of its end that could be replaced');
  edits.replace(stop, JSON.stringify(adapted));
}

function keepsClientCall(given: unknown, told: ToldContent): boolean {
  const ids = new Set(
    Array.isArray(given)
      ? given.map((call: unknown) => (call instanceof Object ? Reflect.get(call, 'id') : undefined))
      : [],
  );
  return clientCalls(told).some(({ callId }) => ids.has(callId));
}
