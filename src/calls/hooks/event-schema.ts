import type { ErrorObject } from 'ajv';
import { validatorOf } from '../../base/yaml/validator.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const integer = { type: 'integer' };
const flag = { type: 'boolean' };
const mapping = { type: 'object' };

/** The schema of an object of these members, of which only those of `required` must be there. */
function object(properties: Readonly<Record<string, object>>, ...required: readonly string[]) {
  return { type: 'object', ...(required.length > 0 && { required }), properties };
}

const listOf = (items: object) => ({ type: 'array', items });

const messageMembers = {
  role: { enum: ['system', 'user', 'assistant', 'tool'] },
  content: text,
  parts: { type: 'array' },
};
const messages = listOf(object(messageMembers, 'role'));

const providerRequest = object({
  ...{ provider_id: text, model: text, messages, system_prompt: text, round: integer, metadata: mapping },
});

const providerResponse = object(
  { provider_id: text, model: text, message: object(messageMembers), round: integer, latency_ms: number },
  'message',
);

const toolRequest = object({ name: text, args: mapping, call_id: text }, 'name');

const toolResponse = object({ name: text, call_id: text, content: text, error: text, latency_ms: number });

const sessionEvent = object({
  ...{ session_id: text, conversation_id: text, messages, turn_index: integer, metadata: mapping },
});

const evalEvent = object(
  {
    ...{ eval_id: text, type: text, score: number, passed: flag, explanation: text, duration_ms: number },
    ...{ error: text, message: text, violations: listOf(mapping), skipped: flag, skip_reason: text },
    ...{ session_id: text, turn_index: integer },
  },
  'type',
);

const toolCall = object({ name: text, result: text, error: text, index: integer }, 'name');
const evalContext = {
  additionalProperties: false,
  ...object({
    ...{ messages, turn_index: integer, tool_calls: listOf(toolCall), variables: mapping, metadata: mapping },
    ...{ session_id: text, prompt_id: text },
  }),
};

const evalRequest = object({ content: text, params: mapping, context: evalContext }, 'content');

/** The shape of what an eval is asked. */
export const evalShape = createShape(evalRequest);

const eventParts = {
  'provider before_call request': providerRequest,
  'provider after_call request': providerRequest,
  'provider after_call response': providerResponse,
  'tool before_execution request': toolRequest,
  'tool after_execution request': toolRequest,
  'tool after_execution response': toolResponse,
  'session session_start event': sessionEvent,
  'session session_update event': sessionEvent,
  'session session_end event': sessionEvent,
  'eval scored event': evalEvent,
};

/** The shape of each part of an event, by hook, phase and part; members may be left out, not mistyped. */
export const eventShapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries(eventParts).map(([place, schema]) => [place, createShape(schema)]),
);

/** Every schema of this file. */
export const eventSchemas: readonly object[] = [evalRequest, ...Object.values(eventParts)];

/** Says what is wrong with a value, each time as `name.member what`; empty when it has the shape. */
type Shape = (name: string, value: unknown) => string[];

/** The shape check of one of our JSON Schemas; its validator is loaded on first use. */
function createShape(schema: object): Shape {
  return (name, value) => {
    const validate = validatorOf(schema);
    return validate(value) ? [] : (validate.errors ?? []).map(describe).map((what) => `${name}${what}`);
  };
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const unexpected = 'additionalProperty' in params ? ` (${params['additionalProperty']})` : '';
  return `${instancePath.replaceAll('/', '.')} ${message ?? ''}${unexpected}`;
}
