import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import type { Turn } from '../../contract/turn.ts';
import { isObject, Json } from '../../json/json.ts';
import { memberOf, scanMembers } from '../../json/scan.ts';
import { malformed } from '../body.ts';
import type { Question } from '../foreign.ts';
import { settleBody } from './request/settle.ts';

/** The composed answer in the words of the event's phase. Throws REPLY_MALFORMED. */
export function settle(event: HookEvent, question: Question, answer: Answer): Answer {
  if (answer.verdict !== 'modify' || event.hook !== 'turn') return answer;
  const replace = settleReplace(event.turn, question, answer.replace);
  if (replace !== undefined) return { ...answer, replace };
  const { reason, metadata } = answer;
  return answers.allow({ reason, metadata });
}

/** Undefined when nothing is left to replace. */
function settleReplace(turn: Turn, { point, scene }: Question, replace: Json): Json | undefined {
  switch (point) {
    case 'pre_system_prompt':
      return Json.from({ system_prompt: join([...injected(replace), turn.system_prompt]) });
    case 'post_system_prompt':
      return Json.from({ system_prompt: join([turn.system_prompt, ...injected(replace)]) });
    case 'pre_api_request': {
      const body = memberOf(replace.text, scanMembers(replace.text), 'request_body');
      if (body === undefined) throw malformed('its `request_body` is missing');
      return Json.from(settleBody(body, turn));
    }
    case 'pre_agentic_loop':
    case 'post_tool_batch':
      return scene.fuel === null ? unlimited(replace) : replace;
    default:
      return replace;
  }
}

function injected({ value }: Json): string[] {
  const texts = isObject(value) ? value['inject'] : undefined;
  return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
}

function join(paragraphs: readonly string[]): string {
  return paragraphs.filter((text) => text !== '').join('\n\n');
}

/** A loop without a limit has no fuel, and must not be made to go on for ever. */
function unlimited({ value }: Json): Json | undefined {
  return isObject(value) && value['fallback'] === 'call_user'
    ? Json.from({ fallback: 'call_user' })
    : undefined;
}
