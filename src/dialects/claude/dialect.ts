import { basename } from 'node:path/posix';
import { type Fault, RuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { asText } from '../../base/json/parse.ts';
import { membersOf } from '../../base/json/scan.ts';
import { type Answer, answers, type HookEvent, type ToolHookRequest } from '../../contract/hook.ts';
import type { HookContext } from '../../contract/turn.ts';
import { type Composed, compose, type HookAnswer } from '../compose.ts';
import type { ForeignDialect, HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { valueAt } from '../payload-table.ts';
import { complete } from './complete.ts';
import { conditionHolds, markFileTool } from './condition.ts';
import { type ClaudeSettings, claudeConditionEvents } from './config/settings.ts';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { matches } from './matcher.ts';
import { eventRules, points, pointsAt } from './points.ts';
import { allToolNames } from './tool-names.ts';

export const claude: ForeignDialect<ClaudeSettings> = {
  name: 'claude',
  points,
  callOrder: 'judged',
  readsTranscript: true,
  firesStartOnResume: true,
  countsForcedTurnsInARow: true,
  maxContextCharacters: 10_000,
  toolNameForHooks,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: ({ settings }) => settings.isAsync,
  staticAnswer: () => undefined,
  encode,
  decode,
  conclude,
  nextPayload: ({ payload }) => payload,
  toNeutralAnswer,
  wrapLateContext: toReminder,
};

export function selects({ settings, cwd }: HookEntry<ClaudeSettings>, { point, payload }: Question): boolean {
  const { event, matcher, condition, projectDir } = settings;
  if (event !== point) return false;
  const key = eventRules[point]?.matcher;
  const value = key === undefined ? undefined : asText(valueAt(payload, key) ?? '');
  const name = point === 'FileChanged' && value !== undefined ? basename(value) : value;
  const names = name !== undefined && key === 'tool_name' ? allToolNames(name) : [name];
  if (!names.some((each) => each === undefined || matches(event, matcher, each))) return false;
  if (condition === undefined) return true;
  return claudeConditionEvents.has(point) && conditionHolds(condition, { payload, cwd, projectDir });
}

/** Contexts become reminders, a result becomes text, and a deny after a batch becomes an abort. */
export function toNeutralAnswer(event: HookEvent, _question: Question, answer: Answer): Answer {
  const { context, ...bare } = answer;
  const wrapped: Answer = context === undefined ? bare : { ...bare, context: context.map(toReminder) };
  switch (event.phase) {
    case 'approval':
      return wrapped.verdict === 'ask'
        ? answers.allow({ metadata: wrapped.metadata, ...(wrapped.context && { context: wrapped.context }) })
        : wrapped;
    case 'after_execution':
      return wrapped.verdict === 'modify' ? { ...wrapped, replace: toTextContent(wrapped.replace) } : wrapped;
    case 'batch': {
      if (wrapped.verdict !== 'deny') return wrapped;
      const { reason, ...beside } = wrapped;
      return answers.abort(reason, 'turn', beside);
    }
    default:
      return wrapped;
  }
}

export function toReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

function toTextContent(replace: Json): Json {
  const parts = membersOf(replace);
  const { content } = parts;
  if (content === undefined || typeof content.value === 'string') return replace;
  return Json.from({ ...parts, content: content.text });
}

/** The event's own fields. The common fields are added when the payload is sent. */
export function describe(point: string, event: HookEvent, hookContext: HookContext): Payload {
  switch (event.phase) {
    case 'session_start':
      return { source: hookContext.isResumed ? 'resume' : 'startup' };
    case 'session_end':
      return { reason: 'other' };
    case 'prompt':
      return { prompt: event.turn.prompt };
    case 'before_execution':
      return { ...describeTool(event.request), tool_use_id: idOf(event.request) };
    case 'approval':
      return describeTool(event.request);
    case 'after_execution':
      return describeResult(event);
    case 'pending':
      return { message: event.message, notification_type: 'permission_prompt', pending_id: event.id };
    case 'batch':
      return {
        tool_calls: event.calls.map(({ call_id, content, ...call }) => ({
          ...describeTool(call),
          tool_use_id: call_id,
          tool_response: content,
        })),
      };
    case 'stop':
      return {
        stop_hook_active: hookContext.forcedTurns > 0,
        last_assistant_message: event.response,
        background_tasks: [],
        session_crons: [],
      };
    case 'error':
      return { error: errorKind(event.error), error_details: event.error.message };
    default:
      throw new RuntimeError('INTERNAL', `claude has no ${point} at ${event.phase}`);
  }
}

function idOf({ tool_use_id, call_id }: ToolHookRequest): string {
  return tool_use_id ?? call_id;
}

function describeTool({
  name,
  args,
  aliases = [],
}: Pick<ToolHookRequest, 'name' | 'args' | 'aliases'>): Payload {
  return markFileTool({ tool_name: toolNameForHooks(name, aliases), tool_input: Json.from(args) }, aliases);
}

/** The tool name in payloads and matchers: the first alias, else its own name. */
export function toolNameForHooks(name: string, aliases: readonly string[] = []): string {
  return aliases[0] ?? name;
}

function describeResult({ request, response }: Extract<HookEvent, { phase: 'after_execution' }>): Payload {
  const call = describeTool(request);
  const { error, content, result, latency_ms: duration_ms } = response;
  const callMembers = { tool_use_id: idOf(request), duration_ms };
  if (error !== '') return { ...call, error, ...callMembers };
  return { ...call, tool_response: result ?? content, ...callMembers };
}

function errorKind({ details }: Fault): string {
  const status = details?.['status'];
  if (typeof status !== 'number') return 'unknown';
  if (Object.hasOwn(errorKinds, status)) return errorKinds[status] ?? 'unknown';
  return status >= 500 ? 'server_error' : 'unknown';
}

/** Source: the HTTP errors of the Claude API. */
const errorKinds: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication_failed',
  402: 'billing_error',
  403: 'authentication_failed',
  404: 'model_not_found',
  413: 'invalid_request',
  422: 'invalid_request',
  429: 'rate_limit',
  503: 'overloaded',
  529: 'overloaded',
};

export function conclude(
  { point }: Question,
  hookAnswers: readonly HookAnswer[],
  composed: Composed,
): Composed {
  const concluded = conclusions[point]?.(hookAnswers, composed) ?? composed;
  return { ...concluded, answer: withRemarks(point, hookAnswers, concluded.answer) };
}

const conclusions: Readonly<
  Record<string, (hookAnswers: readonly HookAnswer[], composed: Composed) => Composed>
> = {
  PreToolUse: concludeTool,
  PermissionRequest: concludePermission,
  Stop: concludeStop,
  SubagentStop: concludeStop,
};

function concludeTool(hookAnswers: readonly HookAnswer[], composed: Composed): Composed {
  const { answer } = composed;
  const deferred = hookAnswers.find(
    (one) => one.answer.verdict === 'ask' && valueAt(one.answer.metadata, 'deferred') === true,
  );
  if (answer.verdict !== 'ask' || deferred === undefined) return composed;
  const { replace: _dropped, ...rest } = answer;
  return { hook: deferred.hook, answer: { ...rest, reason: deferred.answer.reason } };
}

/** One explicit approval suffices unless another handler refuses. Without any, the answer is ask. */
function concludePermission(hookAnswers: readonly HookAnswer[], composed: Composed): Composed {
  const { answer } = composed;
  if (answer.verdict === 'deny' || answer.verdict === 'abort') return composed;
  const { metadata } = answer;
  const approvals = hookAnswers.filter(
    (one) => one.answer.verdict === 'allow' || one.answer.verdict === 'modify',
  );
  const [first] = approvals;
  const composition = points['PermissionRequest']?.composition;
  if (first === undefined || composition === undefined) {
    return { hook: null, answer: answers.ask('', { metadata }) };
  }
  const approved = compose(approvals, composition);
  return { hook: approved.hook ?? first.hook, answer: { ...approved.answer, metadata } };
}

function concludeStop(hookAnswers: readonly HookAnswer[], composed: Composed): Composed {
  const { verdict } = composed.answer;
  const { context: _moved, ...rest } = composed.answer;
  if (verdict !== 'allow' && verdict !== 'modify') return { ...composed, answer: rest };
  const forcing = hookAnswers.filter(({ answer }) => textsOf(answer).length > 0);
  const hook = forcing.at(-1)?.hook;
  if (hook === undefined) return composed;
  const follow_up = forcing.flatMap(({ answer }) => textsOf(answer)).join('\n\n');
  const { reason, metadata } = rest;
  return { hook, answer: answers.modify({ follow_up }, { reason, metadata }) };
}

function textsOf(answer: Answer): readonly string[] {
  const forced = answer.verdict === 'modify' ? valueAt(answer.replace, 'follow_up') : undefined;
  return [...(typeof forced === 'string' ? [forced] : []), ...(answer.context ?? [])];
}

function withRemarks(point: string, hookAnswers: readonly HookAnswer[], answer: Answer): Answer {
  const texts = hookAnswers.map((one) => valueAt(one.answer.metadata, 'system_message'));
  const messages = texts.filter((text) => typeof text === 'string');
  const given = hookAnswers.flatMap((one) => {
    const own = valueAt(one.answer.metadata, 'warnings');
    return Array.isArray(own) ? own.map(String) : [];
  });
  const warnings = [...new Set([...given, ...lostRewrites(point, hookAnswers)])];
  if (messages.length < 2 && warnings.length === 0) return answer;
  const metadata = Json.from({
    ...membersOf(answer.metadata),
    ...(messages.length > 0 && { system_message: messages.join('\n') }),
    ...(warnings.length > 0 && { warnings }),
  });
  return { ...answer, metadata };
}

function lostRewrites(point: string, hookAnswers: readonly HookAnswer[]): string[] {
  const key = eventRules[point]?.replaces === undefined ? 'args' : 'content';
  const rewriters = hookAnswers.filter(({ answer }) => {
    const isRewrite = answer.verdict === 'modify' || answer.verdict === 'ask';
    return isRewrite && answer.replace !== undefined && valueAt(answer.replace, key) !== undefined;
  });
  if (rewriters.length < 2) return [];
  const what = key === 'args' ? 'arguments' : 'result';
  return [`several hooks replaced the ${what}; "${rewriters.at(-1)?.hook}" is the last in the file and wins`];
}
