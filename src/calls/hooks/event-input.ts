import type { ErrorObject } from 'ajv';
import { RuntimeError } from '../../base/errors.ts';
import { isTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { isObject } from '../../base/json/json.ts';
import { asText } from '../../base/json/parse.ts';
import { validatorOf } from '../../base/yaml/validator.ts';
import {
  type EvalEvent,
  type HookKind,
  type NativeEvent,
  phasesOf,
  type SessionEvent,
  type ToolHookRequest,
  type ToolHookResponse,
} from '../../contract/hook.ts';
import type { ProviderRequest, ProviderResponse } from '../../contract/provider.ts';
import { completeMessage } from './replace.ts';

interface EventInputParts {
  readonly request?: unknown;
  readonly response?: unknown;
  readonly event?: unknown;
}

/** An event as a caller passes it: the hook, its phase (optional for eval hooks) and the parts of that phase. */
export type EventInput = EventInputParts &
  (
    | { readonly hook: Exclude<HookKind, 'eval'>; readonly phase: string }
    | { readonly hook: 'eval'; readonly phase?: 'scored' | undefined }
  );

/** Checks an event and fills in omitted members as empty. Throws EVENT_INVALID naming every wrong member. */
export function readEvent(loose: EventInput): NativeEvent {
  if (!isObject(loose)) throw invalid('an event must be an object with `hook` and `phase`');
  const { hook } = loose;
  const phase = loose.phase ?? (hook === 'eval' ? 'scored' : undefined);
  const phases: readonly string[] | undefined = Object.hasOwn(phasesOf, hook) ? phasesOf[hook] : undefined;
  if (phases === undefined) {
    throw invalid(
      `there is no hook type "${asText(hook)}"; the types are ${Object.keys(phasesOf).join(', ')}`,
    );
  }
  if (phase === undefined || !phases.includes(phase)) {
    throw invalid(`a ${hook} hook has no phase "${phase ?? ''}"; it has ${phases.join(', ')}`);
  }
  const part = (name: Part) => requirePart(name, loose[name], `${hook} ${phase}`);
  switch (phase) {
    case 'before_call':
      return { hook: 'provider', phase, request: toProviderRequest(part('request')) };
    case 'after_call': {
      const request = toProviderRequest(part('request'));
      return { hook: 'provider', phase, request, response: toProviderResponse(part('response'), request) };
    }
    case 'before_execution':
      return { hook: 'tool', phase, request: toToolRequest(part('request')) };
    case 'after_execution': {
      const request = toToolRequest(part('request'));
      return { hook: 'tool', phase, request, response: toToolResponse(part('response'), request) };
    }
    case 'session_start':
    case 'session_update':
    case 'session_end':
      return { hook: 'session', phase, event: toSessionEvent(part('event')) };
    default:
      return { hook: 'eval', phase: 'scored', event: toEvalEvent(part('event')) };
  }
}

type Part = 'request' | 'response' | 'event';
type Members = Readonly<Record<string, unknown>>;

function requirePart(part: Part, value: unknown, moment: string): Members {
  if (value === undefined) throw invalid(`the event of ${moment} has no \`${part}\``);
  if (isTooDeep(value)) {
    throw invalid(
      `\`${part}\` of ${moment} is nested more than ${MAX_JSON_DEPTH} levels deep, or contains itself`,
    );
  }
  const problems = eventShapes.get(`${moment} ${part}`)?.(part, value) ?? [];
  if (problems.length > 0 || !isObject(value)) {
    throw invalid(`the event of ${moment} is not well formed: ${problems.join('; ')}`);
  }
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('EVENT_INVALID', message);
}

function toProviderRequest(given: Members): ProviderRequest {
  const { messages, ...rest } = given as Partial<ProviderRequest>;
  return {
    provider_id: '',
    model: '',
    system_prompt: '',
    round: 1,
    metadata: {},
    ...rest,
    messages: (messages ?? []).map(completeMessage),
  };
}

function toProviderResponse(given: Members, request: ProviderRequest): ProviderResponse {
  const { message, ...rest } = given as Partial<ProviderResponse>;
  const { provider_id, model, round } = request;
  return {
    provider_id,
    model,
    round,
    latency_ms: 0,
    ...rest,
    message: completeMessage({ role: 'assistant', ...message }),
  };
}

function toToolRequest(given: Members): ToolHookRequest {
  return { name: '', args: {}, call_id: '', ...(given as Partial<ToolHookRequest>) };
}

function toToolResponse(given: Members, { name, call_id }: ToolHookRequest): ToolHookResponse {
  return { name, call_id, content: '', error: '', latency_ms: 0, ...(given as Partial<ToolHookResponse>) };
}

function toSessionEvent(given: Members): SessionEvent {
  const { messages, ...rest } = given as Partial<SessionEvent>;
  return {
    session_id: '',
    conversation_id: '',
    turn_index: 0,
    metadata: {},
    ...rest,
    messages: (messages ?? []).map(completeMessage),
  };
}

function toEvalEvent(given: Members): EvalEvent {
  return { eval_id: '', type: '', passed: false, duration_ms: 0, ...(given as Partial<EvalEvent>) };
}

const text = { type: 'string' };
const number = { type: 'number' };
const integer = { type: 'integer' };
const flag = { type: 'boolean' };
const mapping = { type: 'object' };

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

const eventShapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries(eventParts).map(([place, schema]) => [place, createShape(schema)]),
);

export const eventSchemas: readonly object[] = [evalRequest, ...Object.values(eventParts)];

type Shape = (name: string, value: unknown) => string[];

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
