import { isObject, Json, parseLossless } from '../../base/json/json.ts';
import { answers } from '../../contract/hook.ts';
import type { Composed, HookAnswer } from '../compose.ts';
import type { Payload, Question } from '../foreign-dialect.ts';
import { textAt } from '../payload-table.ts';
import { ruleResultIn } from './rule-result.ts';

/** Adds Agentao's aggregated result to the metadata of the composed answer, and drops what has no effect. */
export function conclude(
  question: Question,
  hookAnswers: readonly HookAnswer[],
  composed: Composed,
  selected = hookAnswers.length,
): Composed {
  const aggregate = aggregates[question.point];
  if (aggregate === undefined || hookAnswers.length === 0) return composed;
  const result = aggregate(
    hookAnswers.map(({ answer }) => ruleResultIn(answer)),
    composed,
    selected,
  );
  return withResult(dropUnreadContext(question, composed, result), result);
}

type Aggregate = (results: readonly Payload[], composed: Composed, selected: number) => Payload;

const aggregates: Readonly<Record<string, Aggregate>> = {
  UserPromptSubmit: aggregatePrompt,
  PreToolUse: aggregateTool,
  Stop: aggregateStop,
};

function aggregatePrompt(results: readonly Payload[], { answer }: Composed): Payload {
  const isStopped = results.some((each) => each['prevent_continuation'] === true);
  const isBlocked = answer.verdict === 'deny' && !isStopped;
  return {
    blocking_error: isBlocked ? answer.reason : null,
    prevent_continuation: isStopped,
    stop_reason: lastOf(results, 'stop_reason'),
    additional_contexts: allOf(results, 'additional_contexts'),
    messages: allOf(results, 'messages'),
  };
}

function aggregateTool(results: readonly Payload[], { answer }: Composed, selected: number): Payload {
  const { verdict, reason } = answer;
  const decision = verdict === 'abort' ? 'deny' : verdict === 'deny' || verdict === 'ask' ? verdict : null;
  return {
    decision,
    reason: decision === null ? null : reason,
    additional_contexts: allOf(results, 'additional_contexts'),
    matched_rule_count: selected,
  };
}

function aggregateStop(results: readonly Payload[], { answer }: Composed, selected: number): Payload {
  return {
    blocking_error: answer.verdict === 'deny' ? answer.reason : null,
    force_continue: results.some((each) => each['force_continue'] === true),
    follow_up_message: lastOf(results, 'follow_up_message'),
    additional_contexts: allOf(results, 'additional_contexts'),
    stop_reason: lastOf(results, 'stop_reason'),
    suppress_output: results.some((each) => each['suppress_output'] === true),
    system_message: lastOf(results, 'system_message'),
    messages: allOf(results, 'messages'),
    matched_rule_count: selected,
  };
}

function lastOf(results: readonly Payload[], key: string): unknown {
  return results.findLast((each) => each[key] !== undefined)?.[key] ?? null;
}

function allOf(results: readonly Payload[], key: string): unknown[] {
  return results.flatMap((each) => each[key] ?? []);
}

/** Drops context texts where the model is not called again or the answer is not shown. */
function dropUnreadContext({ point, payload }: Question, composed: Composed, result: Payload): Composed {
  if (point === 'PreToolUse') return composed;
  const { answer } = composed;
  if (point === 'UserPromptSubmit') {
    return answer.verdict === 'deny' ? withoutContext(composed) : composed;
  }
  if (answer.verdict === 'modify' && !hasFollowUp(answer.replace)) {
    const { reason, metadata } = answer;
    return { hook: null, answer: answers.allow({ reason, metadata }) };
  }
  const isShown =
    answer.verdict === 'allow' &&
    result['suppress_output'] !== true &&
    textAt(payload, 'turn_end_reason') === 'final_response';
  return isShown ? composed : withoutContext(composed);
}

/** Whether the replacement still forces a further turn: past the cap it has no `follow_up`. */
function hasFollowUp({ value }: Json): boolean {
  return isObject(value) && typeof value['follow_up'] === 'string';
}

function withoutContext({ hook, answer }: Composed): Composed {
  const { context: _, ...rest } = answer;
  return { hook, answer: rest };
}

function withResult({ hook, answer }: Composed, result: Payload): Composed {
  const members = parseLossless(answer.metadata.text);
  const metadata = Json.from({ ...(isObject(members) && members), agentao: result });
  return { hook, answer: { ...answer, metadata } };
}
