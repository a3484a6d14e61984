import { resolve } from 'node:path';
import { isObject, Json } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';
import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import type { HookContext, Turn } from '../../contract/turn.ts';
import { malformed } from '../body.ts';
import type { ForeignDialect, HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { defaultsOf, requireMembers } from '../payload-table.ts';
import { conclude } from './conclude.ts';
import { decode } from './decode.ts';
import { describe } from './describe.ts';
import { pointsAt } from './permission.ts';
import { type ChibiSettings, points, requirePoint } from './points.ts';
import { toNeutralRequest } from './request/neutral-request.ts';
import { encode } from './tool.ts';

/**
 * The dialect of chibi plugins: each gets the original payload; answers are composed by the rules of the
 * point.
 */
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

/**
 * Whether the plugin has registered for the point. A file inside the project root is read without asking, if it is
 * known where its path leads.
 */
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
 * A payload from the host, with defaults filled in, also for what is null; members that the point does not have stay.
 * Throws EVENT_INVALID, which names the member that is missing or wrong.
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

/**
 * The composed answer in neutral form: `replace` has the members of the event's phase. Throws
 * REPLY_MALFORMED.
 */
export function toNeutralAnswer(event: HookEvent, question: Question, answer: Answer): Answer {
  if (answer.verdict !== 'modify' || event.hook !== 'turn') return answer;
  const replace = toNeutralReplace(event.turn, question, answer.replace);
  if (replace !== undefined) return { ...answer, replace };
  const { reason, metadata } = answer;
  return answers.allow({ reason, metadata });
}

/** Undefined when nothing is left to replace. */
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

/**
 * The replacement for a loop without a limit: only `fallback: call_user` counts, so that it cannot run for
 * ever.
 */
function withoutFuel({ value }: Json): Json | undefined {
  return isObject(value) && value['fallback'] === 'call_user'
    ? Json.from({ fallback: 'call_user' })
    : undefined;
}
