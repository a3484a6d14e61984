import { basename } from 'node:path/posix';
import { type Fault, RuntimeError } from '../../base/errors.ts';
import { asText } from '../../base/json/as-text.ts';
import { Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import { type Answer, answers, type HookEvent, type ToolHookRequest } from '../../contract/hook.ts';
import type { FinishedCall, HookContext } from '../../contract/turn.ts';
import type { ForeignDialect, HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { valueAt } from '../payload-table.ts';
import { complete } from './complete.ts';
import { conclude } from './conclude.ts';
import { conditionHolds, markFileTool } from './condition/condition.ts';
import type { ClaudeSettings } from './config/settings.ts';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { matches } from './matcher.ts';
import { eventRules, points, pointsAt } from './points.ts';
import { allToolNames } from './tool-names.ts';

/** Hooks written for Claude Code. */
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

/** Whether a handler is declared for the event, its matcher matches and its `if` holds. */
export function selects({ settings, cwd }: HookEntry<ClaudeSettings>, { point, payload }: Question): boolean {
  const { event, matcher, condition, projectDir } = settings;
  if (event !== point) return false;
  const key = eventRules[point]?.matcher;
  const value = key === undefined ? undefined : asText(valueAt(payload, key) ?? '');
  const name = point === 'FileChanged' && value !== undefined ? basename(value) : value;
  const names = name !== undefined && key === 'tool_name' ? allToolNames(name) : [name];
  if (!names.some((each) => each === undefined || matches(event, matcher, each))) return false;
  if (condition === undefined) return true;
  return conditionEvents.has(point) && conditionHolds(condition, { payload, cwd, projectDir });
}

/** The events at which a handler with `if` may run. */
const conditionEvents: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
]);

/**
 * The composed answer in neutral form: contexts as reminders, a result as text, a deny after a batch as
 * abort.
 */
export function toNeutralAnswer(event: HookEvent, _question: Question, answer: Answer): Answer {
  const { context, ...bare } = answer;
  const wrapped: Answer = context === undefined ? bare : { ...bare, context: context.map(toReminder) };
  switch (event.phase) {
    case 'approval':
      return wrapped.verdict === 'ask' ? allowUndecided(wrapped) : wrapped;
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

/** The text in the `<system-reminder>` tags in which the model reads it. */
export function toReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

/** An ask for a person's approval that no handler decided, as an allow without a deciding hook. */
function allowUndecided({ metadata, context }: Answer): Answer {
  return answers.allow({ metadata, ...(context && { context }) });
}

function toTextContent(replace: Json): Json {
  const parts = membersOf(replace);
  const { content } = parts;
  if (content === undefined || typeof content.value === 'string') return replace;
  return Json.from({ ...parts, content: content.text });
}

/** The event fields of a payload; what every payload has is added when it is sent. */
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
      return { tool_calls: event.calls.map(describeCall) };
    case 'stop':
      return describeStop(event.response, hookContext);
    case 'error':
      return { error: errorKind(event.error), error_details: event.error.message };
    default:
      throw new RuntimeError('INTERNAL', `claude has no ${point} at ${event.phase}`);
  }
}

/** The id of the call in the conversation, else the id of the call. */
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

function describeCall({ name, aliases, args, call_id, content }: FinishedCall): Payload {
  return { ...describeTool({ name, aliases, args }), tool_use_id: call_id, tool_response: content };
}

function describeStop(response: string, hookContext: HookContext): Payload {
  return {
    stop_hook_active: hookContext.forcedTurns > 0,
    last_assistant_message: response,
    background_tasks: [],
    session_crons: [],
  };
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
