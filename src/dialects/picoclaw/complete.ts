import type { HookContext } from '../../contract/turn.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import type { Payload } from '../foreign-dialect.ts';
import { completeEvent, completeRuntimeEvent } from './complete-event.ts';
import {
  completeShape,
  invalid,
  isBoolean,
  isDuration,
  isJsonObject,
  isReadableBy,
  isText,
  type Shape,
} from './payload-shape.ts';
import { toContext, toMeta, tracePaths } from './wire/context.ts';
import { readMessages } from './wire/message.ts';
import { defaultResponse, readResponseObject } from './wire/response.ts';
import { defaultResult, readResultObject, readToolDefs } from './wire/tool.ts';

/** The params of a method from the host, with defaults filled in. Throws EVENT_INVALID. */
export function complete(point: string, given: Payload, hookContext: HookContext): Payload {
  if (point === 'event') return completeEvent(given, hookContext);
  if (point === 'runtime_event') return completeRuntimeEvent(given, hookContext);
  if (!isMethod(point)) throw invalid(point, 'has no meaning: picoclaw has no such point');
  const { members, defaults } = shapes[point];
  const payload = completeShape(point, given, {
    members: { meta: isJsonObject, context: isJsonObject, ...members, channel: isText, chat_id: isText },
    defaults: { meta: toMeta(hookContext, tracePaths[point]), ...toContext(hookContext), ...defaults },
  });
  return fillInside(payload);
}

const call: Shape = { members: { tool: isText, arguments: isJsonObject }, defaults: { arguments: {} } };

const shapes = {
  before_llm: {
    members: {
      model: isText,
      messages: isReadableBy(readMessages),
      tools: isReadableBy(readToolDefs),
      options: isJsonObject,
      graceful_terminal: isBoolean,
    },
    defaults: { model: '', tools: [], options: {}, graceful_terminal: false },
  },
  after_llm: {
    members: { model: isText, response: isReadableBy(readResponseObject) },
    defaults: { model: '' },
  },
  before_tool: call,
  approve_tool: call,
  after_tool: {
    members: { ...call.members, result: isReadableBy(readResultObject), duration: isDuration },
    defaults: { ...call.defaults, duration: 0 },
  },
} as const satisfies Readonly<Record<string, Shape>>;

function isMethod(point: string): point is keyof typeof shapes {
  return Object.hasOwn(shapes, point);
}

function fillInside(payload: Payload): Payload {
  const { result, response } = payload;
  return {
    ...payload,
    ...(result !== undefined && { result: { ...defaultResult, ...membersOf(Json.from(result)) } }),
    ...(response !== undefined && { response: { ...defaultResponse, ...membersOf(Json.from(response)) } }),
  };
}
