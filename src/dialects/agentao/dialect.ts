import { isObject } from '../../base/json/json.ts';
import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { malformed } from '../body.ts';
import type { ForeignDialect, HookCallOutcome, HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { textAt, valueAt } from '../payload-table.ts';
import { complete, describe } from './complete.ts';
import { conclude } from './conclude.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { dataOf, toolNameIn } from './envelope.ts';
import { matches } from './matcher.ts';
import { points, pointsAt } from './points.ts';
import { addContext } from './read/turn.ts';
import { ruleResultIn } from './rule-result.ts';
import { agentaoToolName, toolNameForHooks } from './tool-names.ts';

/** The dialect of Agentao (jin-bo/agentao): each hook is a rule with a command or a static text. */
export const agentao: ForeignDialect<AgentaoSettings> = {
  name: 'agentao',
  points,
  callOrder: 'judged_first',
  readsTranscript: true,
  toolNameForHooks: toolNameForHooks,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  staticAnswer: staticAnswerOf,
  encode,
  decode,
  conclude,
  // Every rule of an event sees the same payload.
  nextPayload: ({ payload }) => payload,
  toNeutralAnswer,
  report,
};

/** Whether a rule is one of the event and its matcher fits. */
export function selects({ settings }: HookEntry<AgentaoSettings>, { point, payload }: Question): boolean {
  return settings.event === point && matches(point, settings.matcher, namesIn(point, payload));
}

function namesIn(point: string, payload: Question['payload']): readonly string[] {
  if (point === 'PreCompact') return [textAt(payload, 'trigger') ?? ''];
  const { names } = payload;
  return Array.isArray(names) ? names.map(String) : [];
}

/** The answer of a prompt rule: its text with the user's message filled in; undefined for a command rule. */
export function staticAnswerOf(entry: HookEntry<AgentaoSettings>, question: Question): Answer | undefined {
  const { prompt } = entry.settings;
  if (prompt === undefined) return undefined;
  const message = textAt(dataOf(question.payload), 'userMessage') ?? '';
  const text = prompt.replaceAll('{userMessage}', () => message);
  return addContext({ entry, question }, text, 'prompt_hook');
}

/** The composed answer in neutral form, each context text wrapped as Agentao does. Throws REPLY_MALFORMED. */
export function toNeutralAnswer(_event: HookEvent, { point }: Question, answer: Answer): Answer {
  const wrap = wrappers[point] ?? wrapReminder;
  const { context } = answer;
  const wrapped = context === undefined ? answer : { ...answer, context: context.map(wrap) };
  return point === 'Stop' && wrapped.verdict === 'modify' ? toForcedTurn(wrapped) : wrapped;
}

const wrappers: Readonly<Record<string, (text: string) => string>> = {
  UserPromptSubmit: (text) => `<user-prompt-submit-hook>\n${text}\n</user-prompt-submit-hook>`,
  Stop: (text) => `<stop-hook>\n${text}\n</stop-hook>`,
};

function wrapReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

function toForcedTurn(answer: Answer & { readonly verdict: 'modify' }): Answer {
  const { value } = answer.replace;
  const followUp = isObject(value) ? value['follow_up'] : undefined;
  if (typeof followUp !== 'string') throw malformed('a forced turn has no text to go on with');
  const follow_up = `<system-reminder>Stop hook injected this</system-reminder>\n${followUp}`;
  return { ...answers.modify({ follow_up }), reason: answer.reason, metadata: answer.metadata };
}

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
