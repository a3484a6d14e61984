import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import type { Turn } from '../../contract/turn.ts';
import { isObject, Json } from '../../json/json.ts';
import { memberOf, scanMembers } from '../../json/scan.ts';
import { malformed } from '../body.ts';
import type { Question } from '../foreign-dialect.ts';
import { toNeutralRequest } from './request/neutral-request.ts';

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
