import { type Answer, answers } from '../../contract/hook.ts';
import { isObject, Json } from '../../json/json.ts';
import { memberOf, scanMembers } from '../../json/scan.ts';
import type { Composed, Spoken } from '../compose.ts';
import type { Question } from '../foreign.ts';
import { burnFuel } from './fuel.ts';
import { tellPermission } from './permission.ts';
import { requirePoint } from './points.ts';

/** What no rule for single members can say: aborts, permissions, fuel, the list of tools, the cache. */
export function conclude(question: Question, spoken: readonly Spoken[], composed: Composed): Composed {
  const { family } = requirePoint(question.point);
  // A plugin that could not be run ends the event, and what the others said is lost.
  const failed = spoken.find(({ answer }) => answer.verdict === 'abort');
  if (failed !== undefined)
    return { hook: failed.hook, answer: family === 'spawn' ? refuse(failed.answer) : failed.answer };
  if (family === 'permission') return askUnlessDenied(question, spoken, composed);
  const { answer } = composed;
  if (answer.verdict !== 'modify') return composed;
  const replace = reshape(question, spoken, answer.replace);
  if (replace.text !== '{}') return { ...composed, answer: { ...answer, replace } };
  const { verdict: _verdict, replace: _nothing, ...beside } = answer;
  return { hook: null, answer: answers.allow(beside) };
}

/** A sub-agent that cannot be guarded is a failed tool, not the end of the turn. */
function refuse(answer: Answer): Answer {
  const { reason, metadata } = answer;
  const fault = answer.verdict === 'abort' && answer.error ? { error: answer.error } : {};
  return answers.deny(reason, { metadata, ...fault });
}

/** Plugins can deny, never approve: what none of them denied is for the host to decide. */
function askUnlessDenied({ payload }: Question, [first]: readonly Spoken[], composed: Composed): Composed {
  if (first === undefined || composed.answer.verdict === 'deny') return composed;
  const { metadata } = composed.answer;
  return { hook: first.hook, answer: answers.ask(tellPermission(payload), { metadata }) };
}

function reshape({ point, payload }: Question, spoken: readonly Spoken[], replace: Json): Json {
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
      // Where there is no limit, what plugins say of it means nothing.
      const remaining = payload['fuel_remaining'];
      return Json.from({
        ...(fallback && { fallback }),
        ...(remaining !== undefined && burnFuel(spoken, remaining)),
      });
    }
    default:
      return replace;
  }
}
