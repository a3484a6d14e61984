import { resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';
import {
  type Answer,
  answers,
  type CallEvent,
  type HookEvent,
  type NativeEvent,
  type ToolHookRequest,
} from '../../contract/hook.ts';
import type { HookContext, Turn } from '../../contract/turn.ts';
import { malformed } from '../body.ts';
import type { Composed, HookAnswer } from '../compose.ts';
import type { ForeignDialect, HookEntry, Payload, Question, Trial } from '../foreign-dialect.ts';
import { defaultsOf, requireMembers, samplePayload } from '../payload-table.ts';
import { decode } from './decode.ts';
import { describePermission, permissionFor, pointsAt } from './permission.ts';
import { type ChibiSettings, contextMembersOf, points, requirePoint } from './points.ts';
import { describeBody, toNeutralRequest } from './request.ts';
import { encode } from './tool.ts';

export const chibi: ForeignDialect<ChibiSettings> = {
  name: 'chibi',
  points,
  callOrder: 'one_by_one',
  readsTranscript: false,
  noApproverReason: 'no permission handler configured (fail-safe deny)',
  firesOnLoopPrompts: true,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  staticAnswer: () => undefined,
  encode,
  decode,
  conclude,
  nextPayload: ({ payload }) => payload,
  toNeutralAnswer,
};

/** A read inside the project root needs no permission, if the file's resolved path is known. */
export function selects({ settings }: HookEntry<ChibiSettings>, { point, hookContext }: Question): boolean {
  if (!settings.points.includes(point)) return false;
  return point !== 'pre_file_read' || !isInside(settings.projectRoot, hookContext.realPath);
}

function isInside(root: string, path: string | undefined): boolean {
  if (path === undefined) return false;
  const [folder, file] = [resolve(root), resolve(path)];
  return file === folder || file.startsWith(folder === '/' ? folder : `${folder}/`);
}

/**
 * Fills in defaults, also for null members, and keeps unknown members. Throws EVENT_INVALID, which names the missing or
 * wrong member.
 */
export function complete(point: string, given: Payload, hookContext: HookContext): Payload {
  const { fields } = requirePoint(point);
  const present = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
  );
  const known = { ...defaultsOf(fields, present, hookContext), ...present };
  requireMembers(
    fields,
    known,
    (key, problem = 'is missing') => `the payload of ${point}: \`${key}\` ${problem}`,
  );
  return { ...given, ...known };
}

export function toNeutralAnswer(event: HookEvent, question: Question, answer: Answer): Answer {
  if (answer.verdict !== 'modify' || event.hook !== 'turn') return answer;
  const replace = toNeutralReplace(event.turn, question, answer.replace);
  if (replace !== undefined) return { ...answer, replace };
  const { reason, metadata } = answer;
  return answers.allow({ reason, metadata });
}

function toNeutralReplace(turn: Turn, { point, hookContext }: Question, replace: Json): Json | undefined {
  switch (point) {
    case 'pre_system_prompt':
      return Json.from({ system_prompt: joinParagraphs([...injectedTexts(replace), turn.system_prompt]) });
    case 'post_system_prompt':
      return Json.from({ system_prompt: joinParagraphs([turn.system_prompt, ...injectedTexts(replace)]) });
    case 'pre_api_request': {
      const body = memberOf(replace.text, scanMembers(replace.text), 'request_body');
      if (body === undefined) throw malformed('its `request_body` is missing');
      return Json.from(toNeutralRequest(body, turn));
    }
    case 'pre_agentic_loop':
    case 'post_tool_batch':
      return hookContext.fuel === null ? withoutFuel(replace) : replace;
    default:
      return replace;
  }
}

function injectedTexts({ value }: Json): string[] {
  const texts = isObject(value) ? value['inject'] : undefined;
  return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
}

function joinParagraphs(paragraphs: readonly string[]): string {
  return paragraphs.filter((text) => text !== '').join('\n\n');
}

/** In a loop without a limit, only `fallback: call_user` counts, so that the loop cannot run for ever. */
function withoutFuel({ value }: Json): Json | undefined {
  return isObject(value) && value['fallback'] === 'call_user'
    ? Json.from({ fallback: 'call_user' })
    : undefined;
}

export function describe(point: string, event: HookEvent, hookContext: HookContext): Payload {
  return { ...describeEvent(point, event), ...contextMembersOf(requirePoint(point).fields, hookContext) };
}

function describeEvent(point: string, event: HookEvent): Payload {
  switch (event.phase) {
    case 'session_start':
    case 'session_end':
    case 'system_prompt':
      return {};
    case 'prompt':
      return { prompt: event.turn.prompt };
    case 'tool_list':
      return { tools: event.turn.tools.map(({ name, category }) => ({ name, type: category ?? 'plugin' })) };
    case 'request':
      return { request_body: describeBody(event.turn) };
    case 'loop':
      return { message: event.turn.prompt };
    case 'batch':
      return { tool_calls: event.calls.map(({ name, args }) => ({ name, arguments: args })) };
    case 'answered': {
      const { turn, original_prompt, response } = event;
      return { prompt: turn.prompt, original_prompt, response };
    }
    case 'before_execution':
      return callOf(event.request);
    case 'approval': {
      const permission = permissionFor(event.request);
      if (permission?.point === point) return permission.payload;
      break;
    }
    case 'after_execution':
      return { ...callOf(event.request), output: outputOf(event) };
    case 'blocked': {
      const { stage = 'before_execution' } = event;
      return { ...callOf(event.request), output: denialTextOf({ ...event, stage }) };
    }
    case 'finished':
    case 'returned': {
      const output = finalOutputOf(event);
      if (point !== 'post_tool') {
        return { ...callOf(event.request), output, final_output: output, cached: false };
      }
      // The arguments as the model wrote them, before hooks changed them.
      return { ...callOf({ ...event.request, args: event.asked }), result: output, cached: false };
    }
  }
  throw new RuntimeError('INTERNAL', `chibi's ${point} has no event for ${event.phase}`);
}

function callOf({ name, args }: ToolHookRequest) {
  const json = Json.from(args);
  return { tool_name: name, arguments: isObject(json.value) ? json : {} };
}

type AfterExecution = Extract<NativeEvent, { phase: 'after_execution' }>;
type Finished = Extract<CallEvent, { phase: 'finished' | 'returned' }>;
type Blocked = Extract<CallEvent, { phase: 'blocked' }>;

function outputOf({ response: { content, error } }: AfterExecution | Finished): string {
  return error !== '' && content.includes(error) ? `Error: ${error}` : content;
}

function denialTextOf({
  request,
  response,
  reason,
  stage,
}: Pick<Blocked, 'request' | 'response' | 'reason'> &
  Pick<NonNullable<Finished['denial']>, 'stage'>): string {
  if (reason === '') return response.content;
  return stage === 'approval' && request.category !== 'shell' ? `Permission denied: ${reason}` : reason;
}

function finalOutputOf(event: Finished): string {
  const { denial, request, response } = event;
  if (denial === undefined || !response.content.includes(denial.reason)) return outputOf(event);
  return denialTextOf({ request, response, ...denial });
}

/** Adjusts the composed answer where members cannot be merged one by one: aborts, permissions, fuel, tools, cache. */
export function conclude(
  question: Question,
  hookAnswers: readonly HookAnswer[],
  composed: Composed,
): Composed {
  const { family } = requirePoint(question.point);
  const failed = hookAnswers.find(({ answer }) => answer.verdict === 'abort');
  if (failed !== undefined && family !== 'spawn') return failed;
  if (failed !== undefined) {
    // If a sub-agent cannot be guarded, its tool call fails, but the turn continues.
    const { hook, answer } = failed;
    const { reason, metadata } = answer;
    const fault = answer.verdict === 'abort' && answer.error ? { error: answer.error } : {};
    return { hook, answer: answers.deny(reason, { metadata, ...fault }) };
  }
  const { answer } = composed;
  if (family === 'permission') {
    // Plugins can deny but never approve. The host decides about calls that no plugin denied.
    const [first] = hookAnswers;
    if (first === undefined || answer.verdict === 'deny') return composed;
    const { metadata } = answer;
    return { hook: first.hook, answer: answers.ask(describePermission(question.payload), { metadata }) };
  }
  if (answer.verdict !== 'modify') return composed;
  const replace = adjustReplace(question, hookAnswers, answer.replace);
  if (replace.text !== '{}') return { ...composed, answer: { ...answer, replace } };
  const { verdict: _verdict, replace: _nothing, ...beside } = answer;
  return { hook: null, answer: answers.allow(beside) };
}

function adjustReplace(
  { point, payload }: Question,
  hookAnswers: readonly HookAnswer[],
  replace: Json,
): Json {
  switch (point) {
    case 'pre_api_tools':
      return Json.from({ tools: replace });
    case 'pre_cache_output':
      return isObject(replace.value) && replace.value['cache'] === false
        ? Json.from({ cache: false })
        : replace;
    case 'pre_agentic_loop':
    case 'post_tool_batch': {
      const fallback = memberOf(replace.text, scanMembers(replace.text), 'fallback');
      const remaining = toInteger(Json.from(payload['fuel_remaining'] ?? null));
      return Json.from({
        ...(fallback && { fallback }),
        ...(remaining !== undefined && composeFuel(hookAnswers, remaining)),
      });
    }
    default:
      return replace;
  }
}

/**
 * The change of the fuel: the new level where a plugin set one, else the sum of the differences. Applies plugin by
 * plugin, `fuel` before `fuel_delta`, never below 0. Source: apply_hook_overrides in api/send.rs.
 */
function composeFuel(
  hookAnswers: readonly HookAnswer[],
  start: bigint,
): { readonly fuel?: bigint; readonly fuel_delta?: bigint } {
  let level = start;
  let isSet = false;
  let isMoved = false;
  for (const { answer } of hookAnswers) {
    if (answer.verdict !== 'modify') continue;
    const { text } = answer.replace;
    const members = scanMembers(text);
    const fuel = toInteger(memberOf(text, members, 'fuel'));
    const delta = toInteger(memberOf(text, members, 'fuel_delta'));
    if (fuel !== undefined) {
      level = fuel;
      isSet = true;
    }
    if (delta === undefined) continue;
    level = clamp(level + delta);
    isMoved = true;
  }
  if (isSet) return { fuel: level };
  return isMoved ? { fuel_delta: level - start } : {};
}

function clamp(level: bigint): bigint {
  if (level < 0n) return 0n;
  return level > MAX_FUEL ? MAX_FUEL : level;
}

/** chibi counts fuel in 64 bits. */
const MAX_FUEL = 2n ** 64n - 1n;

function toInteger(json: Json | undefined): bigint | undefined {
  return json !== undefined && /^-?\d+$/.test(json.text) ? BigInt(json.text) : undefined;
}

export const trial: Trial<ChibiSettings> = {
  settingsAt: (settings, { point }) => ({ ...settings, points: [point] }),
  payloadAt: (point) => samplePayload(requirePoint(point).fields),
  consentAt: () => '{}',
  description: JSON.stringify({ name: '', description: '', hooks: Object.keys(points) }),
  failsOpenBy: ['chibi.exit_nonzero', 'chibi.empty', 'chibi.not_json', 'chibi.no_object', 'chibi.wrong_type'],
  passesAt: () => ({}),
};
