import { createHash } from 'node:crypto';
import type { ErrorCode, RuntimeError } from '../../base/errors.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import type { Composed, HookAnswer } from '../compose.ts';
import { type Decoded, decoded } from '../dialect.ts';
import { type FailureRule, failOpen } from '../failed-open.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { textAt } from '../payload-table.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { type PointName, requirePoint } from './points.ts';

export interface RuleResult {
  readonly additional_contexts?: readonly string[];
  readonly messages?: readonly Payload[];
  readonly blocking_error?: string;
  readonly prevent_continuation?: true;
  readonly stop_reason?: string | undefined;
  readonly force_continue?: true;
  readonly follow_up_message?: string;
  readonly suppress_output?: true | undefined;
  readonly system_message?: string | undefined;
}

type Marker = '[Blocked by hook]' | '[Hook stopped]' | '[Blocked by Stop hook]';

export function metadataOf(result: RuleResult): Json {
  return Json.from({ agentao: result });
}

export function denyWithMarker(
  marker: Marker,
  reason: string,
  { result, context = [] }: { readonly result?: RuleResult; readonly context?: readonly string[] },
): Answer {
  const metadata = Json.from({ replacement: `${marker} ${reason}`, ...(result && { agentao: result }) });
  return answers.deny(reason, { metadata, context });
}

export function denyWithError(
  asked: HookQuestion,
  error: string,
  { marker = '[Blocked by hook]', result, context = [] }: BlockDetails,
): Answer {
  const messages = [attach(asked, 'hook_blocking_error', { error })];
  return denyWithMarker(marker, error, { result: { ...result, blocking_error: error, messages }, context });
}

interface BlockDetails {
  readonly marker?: Marker;
  readonly result: RuleResult;
  readonly context?: readonly string[];
}

export function recordReply(asked: HookQuestion, reply: Json, contexts: readonly string[]): Payload {
  if (contexts.length === 0) return attach(asked, 'hook_success', reply);
  return attach(asked, 'hook_additional_context', {
    context: contexts.length === 1 ? contexts[0] : contexts,
  });
}

function withRuleResult(answer: Answer, result: RuleResult): Answer {
  return { ...answer, metadata: Json.from({ ...membersOf(answer.metadata), agentao: result }) };
}

/** Numbers keep their digits. */
export function ruleResultIn({ metadata }: Answer): Payload {
  const { agentao } = membersOf(metadata);
  return isObject(agentao) ? agentao : {};
}

function membersOf(metadata: Json): Payload {
  const members = parseLossless(metadata.text);
  return isObject(members) ? members : {};
}

type AttachmentType =
  | 'hook_additional_context'
  | 'hook_success'
  | 'hook_stopped_continuation'
  | 'hook_blocking_error';

export interface HookQuestion {
  readonly entry: HookEntry<AgentaoSettings>;
  readonly question: Question;
}

/** Agentao's attachment record of one rule. The same event at the same moment has the same `uuid`. */
export function attach({ entry, question }: HookQuestion, type: AttachmentType, payload: unknown): Payload {
  const { point, hookContext } = question;
  const { command, prompt } = entry.settings;
  const record = {
    attachment_type: type,
    payload,
    hook_name: prompt === undefined ? (command ?? entry.name) : 'prompt_hook',
    hook_event: point,
    tool_use_id: '',
  };
  const { session_id, turn_id, round, forcedTurns, now } = hookContext;
  const about = [entry.name, question.payload, session_id, turn_id, round, forcedTurns, now];
  return { ...record, uuid: toUuid(stringifyJson([record, about])), timestamp: now };
}

function toUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

const rules: Partial<Readonly<Record<ErrorCode, Omit<FailureRule, 'error'>>>> = {
  PROCESS_TIMEOUT: { cause: 'agentao.timeout', what: 'did not answer in time' },
  PROCESS_START: { cause: 'agentao.spawn', what: 'could not be started' },
};

/**
 * A timeout and a failed start pass. Any other fault is thrown if the event can be denied. Source: `_run_subprocess` of
 * agentao/plugins/hooks/_dispatcher.py.
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

/** The answer for a process that failed without printing an answer. Source: `_run_command_hook`. */
export function readExitFailure(
  asked: HookQuestion,
  what: string,
  ruleResult: RuleResult = {},
): Decoded<Answer> {
  return passFailure(asked, { cause: 'agentao.exit_nonzero', what }, ruleResult);
}

/** Invalid JSON that begins as an object counts as text, unless `on_failure` is `deny`. */
export function readInvalidJson(
  { entry, question }: HookQuestion,
  { output, notes }: Decoded<Answer>,
): Decoded<Answer> {
  const rule = {
    cause: 'agentao.bad_json',
    what: 'printed something that begins like a JSON object but is not one',
  };
  const isClosable = closable.includes(question.point);
  const read = failOpen(entry, rule, { answer: output, notes, isClosable });
  const answer = hasRuleResults(question.point)
    ? withRuleResult(read.output, ruleResultIn(output))
    : read.output;
  return decoded(answer, read.notes);
}

export function isObserveOnly(point: PointName): boolean {
  return point === 'SessionEnd' || point === 'PreCompact';
}

function hasRuleResults(point: string): boolean {
  return point === 'UserPromptSubmit' || point === 'PreToolUse' || point === 'Stop';
}

const closable: readonly string[] = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];

function passFailure(asked: HookQuestion, rule: FailureRule, ruleResult: RuleResult = {}): Decoded<Answer> {
  const { entry, question } = asked;
  const onFailure = closable.includes(question.point) ? entry.onFailure : 'own';
  const { output, notes } = failOpen({ name: entry.name, onFailure }, rule);
  if (!hasRuleResults(question.point)) return decoded(output, notes);
  // Agentao adds the end of stderr. Here it goes only to the log, since it may quote other texts.
  const warning = attach(asked, 'hook_success', { warning: `Hook ${rule.what}` });
  const messages = [...(ruleResult.messages ?? []), warning];
  return decoded(withRuleResult(output, { ...ruleResult, messages }), notes);
}

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

/** Drops context texts if the model is not called again or the answer is not shown. */
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
