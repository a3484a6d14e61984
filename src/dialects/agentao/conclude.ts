import { answers } from '../../contract/hook.ts';
import { isObject, Json, parseLossless } from '../../json/json.ts';
import type { Composed, Spoken } from '../compose.ts';
import type { Payload, Question } from '../foreign.ts';
import { saidIn } from './said.ts';
import { textAt } from './tree.ts';

/** What all rules of a point said together, in Agentao's own result, and what of it counts. */
export function conclude(
  question: Question,
  spoken: readonly Spoken[],
  composed: Composed,
  selected = spoken.length,
): Composed {
  const sum = sums[question.point];
  if (sum === undefined || spoken.length === 0) return composed;
  const result = sum(
    spoken.map(({ answer }) => saidIn(answer)),
    composed,
    selected,
  );
  return withResult(limit(question, composed, result), result);
}

type Sum = (said: readonly Payload[], composed: Composed, selected: number) => Payload;

const sums: Readonly<Record<string, Sum>> = {
  UserPromptSubmit: sumPrompt,
  PreToolUse: sumTool,
  Stop: sumStop,
};

function sumPrompt(said: readonly Payload[], { answer }: Composed): Payload {
  const isStopped = said.some((each) => each['prevent_continuation'] === true);
  const isBlocked = answer.verdict === 'deny' && !isStopped;
  return {
    blocking_error: isBlocked ? answer.reason : null,
    prevent_continuation: isStopped,
    stop_reason: lastOf(said, 'stop_reason'),
    additional_contexts: listOf(said, 'additional_contexts'),
    messages: listOf(said, 'messages'),
  };
}

function sumTool(said: readonly Payload[], { answer }: Composed, selected: number): Payload {
  const { verdict, reason } = answer;
  const decision = verdict === 'abort' ? 'deny' : verdict === 'deny' || verdict === 'ask' ? verdict : null;
  return {
    decision,
    reason: decision === null ? null : reason,
    additional_contexts: listOf(said, 'additional_contexts'),
    matched_rule_count: selected,
  };
}

function sumStop(said: readonly Payload[], { answer }: Composed, selected: number): Payload {
  return {
    blocking_error: answer.verdict === 'deny' ? answer.reason : null,
    force_continue: said.some((each) => each['force_continue'] === true),
    follow_up_message: lastOf(said, 'follow_up_message'),
    additional_contexts: listOf(said, 'additional_contexts'),
    stop_reason: lastOf(said, 'stop_reason'),
    suppress_output: said.some((each) => each['suppress_output'] === true),
    system_message: lastOf(said, 'system_message'),
    messages: listOf(said, 'messages'),
    matched_rule_count: selected,
  };
}

function lastOf(said: readonly Payload[], key: string): unknown {
  return said.findLast((each) => each[key] !== undefined)?.[key] ?? null;
}

function listOf(said: readonly Payload[], key: string): unknown[] {
  return said.flatMap((each) => each[key] ?? []);
}

/** Texts for a model that is not asked, or for an answer that is not given, have no reader. */
function limit({ point, payload }: Question, composed: Composed, result: Payload): Composed {
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

/** A force that the cap has overridden has nothing for the model. */
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
