import { type Answer, answers } from '../../contract/hook.ts';
import type { ErrorCode, RuntimeError } from '../../errors.ts';
import { type Decoded, decoded } from '../dialect.ts';
import { type FailureRule, failOpen } from '../failed-open.ts';
import { type PointName, requirePoint } from './points.ts';
import { attach, type HookQuestion, type RuleResult, ruleResultIn, withRuleResult } from './rule-result.ts';

const rules: Partial<Readonly<Record<ErrorCode, Omit<FailureRule, 'error'>>>> = {
  PROCESS_TIMEOUT: { cause: 'agentao.timeout', what: 'did not answer in time' },
  PROCESS_START: { cause: 'agentao.spawn', what: 'could not be started' },
};

/**
 * The answer for a fault in the place of a reply. A timeout and a failed start pass; any other fault is
 * thrown where the event can be denied. Source: `_run_subprocess` of agentao/plugins/hooks/_dispatcher.py.
 */
export function readFault(asked: HookQuestion, error: RuntimeError): Decoded<Answer> {
  const rule = rules[error.code];
  if (rule !== undefined) return passFailure(asked, { ...rule, error });
  const point = requirePoint(asked.question.point);
  if (isObserveOnly(point) || point === 'SessionStart') {
    return decoded(answers.allow(), [{ level: 'warn', message: `it failed: ${error.message}` }]);
  }
  throw error;
}

/** The answer for a process that exited with a failure and printed no answer. Source: `_run_command_hook`. */
export function readExitFailure(
  asked: HookQuestion,
  what: string,
  ruleResult: RuleResult = {},
): Decoded<Answer> {
  return passFailure(asked, { cause: 'agentao.exit_nonzero', what }, ruleResult);
}

/**
 * The answer for text that begins as a JSON object and is none: the text counts, unless `on_failure: deny`.
 */
export function readInvalidJson(
  { entry, question }: HookQuestion,
  { output, notes }: Decoded<Answer>,
): Decoded<Answer> {
  const rule = { cause: 'agentao.bad_json', what: 'printed what begins as a JSON object and is none' };
  const isClosable = closable.includes(question.point);
  const read = failOpen(entry, rule, { answer: output, notes, isClosable });
  const answer = hasRuleResults(question.point)
    ? withRuleResult(read.output, ruleResultIn(output))
    : read.output;
  return decoded(answer, read.notes);
}

/** Whether the hooks of the point only observe. */
export function isObserveOnly(point: PointName): boolean {
  return point === 'SessionEnd' || point === 'PreCompact';
}

/** Whether Agentao reports the results of the rules at this point. */
function hasRuleResults(point: string): boolean {
  return point === 'UserPromptSubmit' || point === 'PreToolUse' || point === 'Stop';
}

/** The points at which there is something to deny when a failure must not pass. */
const closable: readonly string[] = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];

function passFailure(asked: HookQuestion, rule: FailureRule, ruleResult: RuleResult = {}): Decoded<Answer> {
  const { entry, question } = asked;
  const onFailure = closable.includes(question.point) ? entry.onFailure : 'own';
  const { output, notes } = failOpen({ name: entry.name, onFailure }, rule);
  if (!hasRuleResults(question.point)) return decoded(output, notes);
  // Agentao adds the end of stderr, which the log has here: it may quote the texts of others.
  const warning = attach(asked, 'hook_success', { warning: `Hook ${rule.what}` });
  const messages = [...(ruleResult.messages ?? []), warning];
  return decoded(withRuleResult(output, { ...ruleResult, messages }), notes);
}
