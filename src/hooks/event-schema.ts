import { createShape, type Shape } from './shape.ts';

const message = {
  type: 'object',
  required: ['role'],
  properties: {
    role: { enum: ['system', 'user', 'assistant', 'tool'] },
    content: { type: 'string' },
    parts: { type: 'array' },
  },
};

const providerRequest = {
  type: 'object',
  properties: {
    provider_id: { type: 'string' },
    model: { type: 'string' },
    messages: { type: 'array', items: message },
    system_prompt: { type: 'string' },
    round: { type: 'integer' },
    metadata: { type: 'object' },
  },
};

const providerResponse = {
  type: 'object',
  required: ['message'],
  properties: {
    provider_id: { type: 'string' },
    model: { type: 'string' },
    message: { ...message, required: [] },
    round: { type: 'integer' },
    latency_ms: { type: 'number' },
  },
};

const toolRequest = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, args: { type: 'object' }, call_id: { type: 'string' } },
};

const toolResponse = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    call_id: { type: 'string' },
    content: { type: 'string' },
    error: { type: 'string' },
    latency_ms: { type: 'number' },
  },
};

const sessionEvent = {
  type: 'object',
  properties: {
    session_id: { type: 'string' },
    conversation_id: { type: 'string' },
    messages: { type: 'array', items: message },
    turn_index: { type: 'integer' },
    metadata: { type: 'object' },
  },
};

const evalEvent = {
  type: 'object',
  required: ['type'],
  properties: {
    eval_id: { type: 'string' },
    type: { type: 'string' },
    score: { type: 'number' },
    passed: { type: 'boolean' },
    explanation: { type: 'string' },
    duration_ms: { type: 'number' },
    error: { type: 'string' },
    message: { type: 'string' },
    violations: { type: 'array', items: { type: 'object' } },
    skipped: { type: 'boolean' },
    skip_reason: { type: 'string' },
    session_id: { type: 'string' },
    turn_index: { type: 'integer' },
  },
};

const evalContext = {
  type: 'object',
  additionalProperties: false,
  properties: {
    messages: { type: 'array', items: message },
    turn_index: { type: 'integer' },
    tool_calls: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          result: { type: 'string' },
          error: { type: 'string' },
          index: { type: 'integer' },
        },
      },
    },
    variables: { type: 'object' },
    metadata: { type: 'object' },
    session_id: { type: 'string' },
    prompt_id: { type: 'string' },
  },
};

const evalRequest = {
  type: 'object',
  required: ['content'],
  properties: { content: { type: 'string' }, params: { type: 'object' }, context: evalContext },
};

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
