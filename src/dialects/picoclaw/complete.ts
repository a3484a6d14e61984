import type { Scene } from '../../contract/turn.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import type { Payload } from '../foreign.ts';
import { completeEvent, completeRuntimeEvent } from './complete-event.ts';
import { fillIn, invalid, isDuration, isMembers, isText, isTruth, readBy, type Shape } from './given.ts';
import { toContext, toMeta, tracePaths } from './wire/context.ts';
import { readMessages } from './wire/message.ts';
import { emptyResponse, readResponseObject } from './wire/response.ts';
import { quietResult, readResultObject, readToolDefs } from './wire/tool.ts';

/** The params of a method as a host hands them in, with what was left out. Throws EVENT_INVALID. */
export function complete(point: string, given: Payload, scene: Scene): Payload {
  if (point === 'event') return completeEvent(given, scene);
  if (point === 'runtime_event') return completeRuntimeEvent(given, scene);
  if (!isMethod(point)) throw invalid(point, 'has no meaning: picoclaw has no such point');
  const { members, defaults } = shapes[point];
  const payload = fillIn(point, given, {
    members: { meta: isMembers, context: isMembers, ...members, channel: isText, chat_id: isText },
    defaults: { meta: toMeta(scene, tracePaths[point]), ...toContext(scene), ...defaults },
  });
  return fillInside(payload);
}

const call: Shape = { members: { tool: isText, arguments: isMembers }, defaults: { arguments: {} } };

const shapes = {
  before_llm: {
    members: {
      model: isText,
      messages: readBy(readMessages),
      tools: readBy(readToolDefs),
      options: isMembers,
      graceful_terminal: isTruth,
    },
    defaults: { model: '', tools: [], options: {}, graceful_terminal: false },
  },
  after_llm: { members: { model: isText, response: readBy(readResponseObject) }, defaults: { model: '' } },
  before_tool: call,
  approve_tool: call,
  after_tool: {
    members: { ...call.members, result: readBy(readResultObject), duration: isDuration },
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
    ...(result !== undefined && { result: { ...quietResult, ...partsOf(Json.from(result)) } }),
    ...(response !== undefined && { response: { ...emptyResponse, ...partsOf(Json.from(response)) } }),
  };
}
