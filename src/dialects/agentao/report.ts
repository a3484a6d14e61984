import type { Answer } from '../../contract/hook.ts';
import { isObject } from '../../json/json.ts';
import type { HookCallOutcome, Payload, Question } from '../foreign-dialect.ts';
import { valueAt } from '../payload.ts';
import { toolNameIn } from './envelope.ts';
import { ruleResultIn } from './rule-result.ts';
import { agentaoToolName } from './tool-names.ts';

type Effect = 'modify' | 'stop' | 'deny' | 'ask' | 'continue' | 'none';

/** The data of PLUGIN_HOOK_FIRED; undefined when no rule was selected. Source: developer guide, chapter 5.7. */
export function report(question: Question, { selected, answer }: HookCallOutcome): Payload | undefined {
  if (selected === 0) return undefined;
  const result = ruleResultIn(answer);
  const effect = effectOf(answer, result);
  const outcome = outcomeOf(question, effect, result);
  return { outcome, matched_rule_count: selected, ...detailsOf(question, result, selected), effect };
}

function effectOf({ verdict, context = [], ...answer }: Answer, result: Payload): Effect {
  switch (verdict) {
    case 'deny':
      return result['prevent_continuation'] === true ? 'stop' : 'deny';
    case 'abort':
      return 'stop';
    case 'ask':
      return 'ask';
    case 'modify':
      return 'replace' in answer && hasFollowUp(answer.replace?.value) ? 'continue' : 'modify';
    default:
      return context.length > 0 ? 'modify' : 'none';
  }
}

function hasFollowUp(replace: unknown): boolean {
  return isObject(replace) && Object.hasOwn(replace, 'follow_up');
}

/** Only a Stop has words of its own beside allow and block. */
function outcomeOf({ point, payload }: Question, effect: Effect, result: Payload): string {
  if (effect === 'deny' || effect === 'stop' || effect === 'ask') return 'block';
  if (effect === 'continue')
    return valueAt(payload, 'at_max_iter') === true ? 'continue_at_max_iter' : 'continue';
  return point === 'Stop' && result['force_continue'] === true ? 'reentry_capped' : 'allow';
}

function detailsOf({ point, payload }: Question, result: Payload, selected: number): Payload {
  const contexts = result['additional_contexts'];
  const added_context_count = Array.isArray(contexts) ? contexts.length : 0;
  switch (point) {
    case 'UserPromptSubmit': {
      const { blocking_error = null, stop_reason = null } = result;
      return { blocking_error, stop_reason, added_context_count, rule_count: selected };
    }
    case 'PreToolUse':
      return { tool: agentaoToolName(toolNameIn(payload)), added_context_count };
    case 'Stop':
      return {
        turn_end_reason: valueAt(payload, 'turn_end_reason'),
        at_max_iter: valueAt(payload, 'at_max_iter'),
        added_context_count,
        suppress_output: result['suppress_output'] === true,
      };
    case 'PreCompact':
      return {
        compaction_type: valueAt(payload, 'compaction_type'),
        trigger: valueAt(payload, 'trigger'),
      };
    default:
      return {};
  }
}
