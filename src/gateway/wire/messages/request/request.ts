import { Json } from '../../../../json/json.ts';
import type { ClientToolResult, WireRequest, WireRules } from '../../codec.ts';
import { invalidRequest, unknownInRequest, unreadableReference } from '../../faults.ts';
import { Leftovers } from '../../leftovers.ts';
import type { Place } from '../../place.ts';
import { openStrictly } from '../../strict-json.ts';
import { describeCall } from '../blocks/describe.ts';
import type { ReadContext } from '../blocks/read-context.ts';
import { collectLeftovers } from '../blocks/shapes.ts';
import { type RequestMessage, readRequestMessage } from './message.ts';
import { requireNoReferences } from './references.ts';
import { readSystem } from './system.ts';
import { listTools } from './tools.ts';
import { writeRequest } from './written-request.ts';

/** A body of `POST /v1/messages` or `/v1/messages/count_tokens`. Throws RefusedCall (400). */
export function readMessagesRequest(body: string, rules: WireRules): WireRequest {
  const root = openStrictly(body, (problem) => invalidRequest(`the body ${problem}`), rules.maxDepth);
  const context = requestContext(rules);
  requireNoReferences(root, rules);
  const messages = readMessages(root, context);
  const leftovers = new Leftovers();
  collectLeftovers(root, rootShape, '', leftovers);
  const system = readSystem(root.at('system'), leftovers, context);
  const tools = listTools(root.at('tools'));
  const maxTokens = numberAt(root, 'max_tokens');
  const temperature = numberAt(root, 'temperature');
  const payload = {
    messages: messages.map(({ message }) => message),
    system_prompt: system.text,
    round: roundOf(messages),
    tools,
    options: {
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      ...(temperature !== undefined && { temperature }),
    },
    other: leftovers.json ?? new Json('{}'),
  };
  const model = requireModel(root);
  return {
    model: model.text ?? '',
    isStream: isStream(root),
    maxTokens,
    choices: 1,
    payload,
    toolResults: messages.flatMap(toClientResult),
    places: messages.map(({ place }) => place),
    write: (changed, name) =>
      writeRequest(
        {
          root,
          model,
          messages,
          payload,
          leftovers,
          system,
          readAgain: (text) => readMessagesRequest(text, rules).payload.messages,
        },
        changed,
        name,
      ),
  };
}

/** The members that are told elsewhere, or that are figures of known settings. */
const rootShape = {
  members: {
    model: 'told',
    messages: 'told',
    system: 'told',
    stream: 'told',
    max_tokens: 'figure',
    temperature: 'figure',
    top_p: 'figure',
    top_k: 'figure',
  },
} as const;

function requestContext(rules: WireRules): ReadContext {
  return {
    rules,
    isAnswer: false,
    malformed: (path) => invalidRequest(`${path} is not what the API takes there`, path),
    unknown: unknownInRequest,
    reference: unreadableReference,
  };
}

function requireModel(root: Place): Place {
  const model = root.at('model');
  if (model?.kind !== 'string') throw invalidRequest('`model` is not a string', 'model');
  return model;
}

function isStream(root: Place): boolean {
  const stream = root.at('stream');
  if (stream === undefined || stream.kind === 'null') return false;
  if (stream.kind !== 'boolean') throw invalidRequest('`stream` is neither true nor false', 'stream');
  return stream.value === true;
}

function numberAt(root: Place, key: string): number | undefined {
  const value = root.at(key)?.value;
  return typeof value === 'number' ? value : undefined;
}

function readMessages(root: Place, context: ReadContext): RequestMessage[] {
  const list = root.at('messages');
  if (list?.kind !== 'array') throw context.malformed('messages');
  const calls = new Map<string, Place>();
  return list.items.flatMap((object, wire) => {
    if (object.kind !== 'object') throw context.malformed(`messages[${wire}]`);
    const read = readRequestMessage({ object, wire }, context, (id) => calls.get(id));
    for (const { told } of read) {
      for (const { block } of told.calls) calls.set(block.at('id')?.text ?? '', block);
    }
    return read;
  });
}

/** The number of the model call in its turn, from 1; a turn begins with what the user has said last. */
function roundOf(messages: readonly RequestMessage[]): number {
  const since = messages.findLastIndex(({ message }) => message.role === 'user');
  return 1 + messages.slice(since + 1).filter(({ message }) => message.role === 'assistant').length;
}

function toClientResult({ message, result }: RequestMessage, index: number): ClientToolResult[] {
  if (result === undefined) return [];
  const { call, callId, isError } = result;
  const described = call && describeCall({ block: call, owner: call, entry: 0 });
  return [
    {
      callId,
      call: described && { name: described.name, args: Json.from(described.args) },
      content: message.content,
      isError,
      index,
    },
  ];
}
