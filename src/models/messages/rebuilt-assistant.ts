import type { LanguageModelV4Message, LanguageModelV4ToolCallPart } from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject } from '../../base/json/json.ts';
import { describeCall } from './message-description.ts';
import { layOutParts, matchParts, type PartMatcher, type Replacement } from './part-layout.ts';
import { type FindFile, type PlainObject, rebuildBody } from './rebuilt-body.ts';

export type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
export type AssistantPart = AssistantMessage['content'][number];

export interface AssistantOrigin {
  /** What was sent in this message's place; empty for a new one. */
  readonly content: readonly AssistantPart[];
  readonly findFile: FindFile;
  /** The new part for each result of a tool that the provider ran. */
  readonly results: ReadonlyMap<AssistantPart, AssistantPart>;
}

/**
 * Rebuilds a replaced assistant message. Unchanged parts stay where they were, with signatures; changed ones
 * take the place of the old, without provider metadata, which may refer to the old text. Throws
 * REPLY_MALFORMED.
 */
export function rebuildAssistant(message: PlainObject, origin: AssistantOrigin): AssistantMessage {
  const { content, findFile, results } = origin;
  const oldBody = content.filter((part) => part.type === 'text' || part.type === 'file');
  const body = rebuildBody(message, { body: oldBody, findFile, keepsOptions: false });
  const oldReasoning = content.filter((part) => part.type === 'reasoning' || part.type === 'reasoning-file');
  const reasoning = rebuildReasoning(message['reasoning'], oldReasoning);
  const oldCalls = content.filter((part) => part.type === 'tool-call');
  const calls = matchParts(readCalls(message['tool_calls']), oldCalls, callMatching);
  const kept = [
    ...calls.kept,
    ...[...results].map(([old, part]): Replacement<AssistantPart> => [old, [part]]),
  ];
  return {
    role: 'assistant',
    content: layOutParts<AssistantPart>(content, {
      body: { old: oldBody, parts: body },
      reasoning: { old: oldReasoning, parts: reasoning },
      kept,
      added: calls.added,
    }),
  };
}

/** The parts for the `reasoning` of a replaced message: the old ones when their text is the same. */
export function rebuildReasoning<Part extends { readonly type: string }>(
  given: unknown,
  old: readonly Part[],
): readonly (Part | { readonly type: 'reasoning'; readonly text: string })[] {
  const text = readReasoning(given);
  const oldText = old.map((part) => (part.type === 'reasoning' && 'text' in part ? part.text : '')).join('');
  if (text === oldText) return old;
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

/** The `reasoning` of a replaced message; empty without one. Throws REPLY_MALFORMED when it is no text. */
function readReasoning(given: unknown): string {
  const text = given ?? '';
  if (typeof text === 'string') return text;
  throw new RuntimeError('REPLY_MALFORMED', 'the `reasoning` of a replaced message is not a string');
}

const callMatching: PartMatcher<ToolCallMember, LanguageModelV4ToolCallPart> = {
  matches: ({ toolCallId }, { id }) => toolCallId === id,
  change: (part, call) =>
    isSameToTheDigit(describeCall(part), call)
      ? part
      : { ...callMatching.add(call), ...(part.providerExecuted === true && { providerExecuted: true }) },
  add: ({ id, name, args }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: args }),
};

/** A tool call as messages carry it. */
export interface ToolCallMember {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** The `tool_calls` of a replaced message. Throws REPLY_MALFORMED unless each has an id, a name and args. */
export function readCalls(given: unknown): ToolCallMember[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw malformedCalls();
  return given.map((call: unknown) => {
    if (!isObject(call)) throw malformedCalls();
    const { id, name, args } = call;
    if (typeof id !== 'string' || typeof name !== 'string' || args === undefined) throw malformedCalls();
    return { id, name, args };
  });
}

function malformedCalls(): RuntimeError {
  const what = 'the `tool_calls` of a replaced message are not a list of {id, name, args}';
  return new RuntimeError('REPLY_MALFORMED', what);
}
