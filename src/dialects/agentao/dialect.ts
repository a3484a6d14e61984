import { RuntimeError } from '../../base/errors.ts';
import { endOfString } from '../../base/json/ends.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';
import type { Message, Reply } from '../../contract/exchange.ts';
import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { type Body, malformed, nonNull, objectAt } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import type {
  ForeignDialect,
  HookCallOutcome,
  HookEntry,
  Payload,
  Question,
  Trial,
} from '../foreign-dialect.ts';
import { samplePayload, textAt, valueAt } from '../payload-table.ts';
import { complete, dataOf, describe, outerMembersOf, shapes, toolNameIn } from './complete.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { matches } from './matcher.ts';
import {
  agentaoToolName,
  isFlat,
  type PointName,
  points,
  pointsAt,
  requirePoint,
  toolNameForHooks,
} from './points.ts';
import {
  findEmbeddedObjects,
  isTruncatedObject,
  noteTextBesideJson,
  type ProcessOutput,
  readProcessOutput,
} from './process-output.ts';
import { addContext, readAfter, readPrompt, readStart, readStop, readTool } from './read.ts';
import { findRepeatedKey } from './reply-fields.ts';
import {
  conclude,
  type HookQuestion,
  isObserveOnly,
  readExitFailure,
  readFault,
  readInvalidJson,
  ruleResultIn,
} from './rule-result.ts';

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
  // Every rule of an event receives the same payload.
  nextPayload: ({ payload }) => payload,
  toNeutralAnswer,
  report,
};

export function selects({ settings }: HookEntry<AgentaoSettings>, { point, payload }: Question): boolean {
  return settings.event === point && matches(point, settings.matcher, namesIn(point, payload));
}

function namesIn(point: string, payload: Question['payload']): readonly string[] {
  if (point === 'PreCompact') return [textAt(payload, 'trigger') ?? ''];
  const { names } = payload;
  return Array.isArray(names) ? names.map(String) : [];
}

export function staticAnswerOf(entry: HookEntry<AgentaoSettings>, question: Question): Answer | undefined {
  const { prompt } = entry.settings;
  if (prompt === undefined) return undefined;
  const message = textAt(dataOf(question.payload), 'userMessage') ?? '';
  const text = prompt.replaceAll('{userMessage}', () => message);
  return addContext({ entry, question }, text, 'prompt_hook');
}

/** Wraps each context text as Agentao does. Throws REPLY_MALFORMED. */
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
  if (typeof followUp !== 'string') throw malformed('a forced turn has no text to continue with');
  const follow_up = `<system-reminder>Stop hook injected this</system-reminder>\n${followUp}`;
  return { ...answers.modify({ follow_up }), reason: answer.reason, metadata: answer.metadata };
}

type Effect = 'modify' | 'stop' | 'deny' | 'ask' | 'continue' | 'none';

/** The data of PLUGIN_HOOK_FIRED. Undefined if no rule was selected. Source: developer guide, chapter 5.7. */
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

type Reader = (asked: HookQuestion, processOutput: ProcessOutput) => Decoded<Answer>;

const readers: Readonly<Record<PointName, Reader>> = {
  UserPromptSubmit: readPrompt,
  SessionStart: readStart,
  SessionEnd: readObserver,
  PreToolUse: readTool,
  PostToolUse: readAfter,
  PostToolUseFailure: readAfter,
  Stop: readStop,
  PreCompact: readObserver,
};

export function decode(
  entry: HookEntry<AgentaoSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const asked = { entry, question };
  if (reply instanceof RuntimeError) return readFault(asked, reply);
  const point = requirePoint(question.point);
  const processOutput = readProcessOutput(reply);
  if (isObserveOnly(point)) return readObserver(asked, processOutput);
  const denial = processOutput.body === undefined ? findDenial(point, asked, processOutput) : undefined;
  if (denial !== undefined) return denial;
  const { output, notes } = readers[point](asked, processOutput);
  if (processOutput.body !== undefined)
    return decoded(output, [...notes, ...noteMisplacedDecision(point, processOutput.body, output)]);
  // A truncated object may have been a denial.
  if (isTruncatedObject(processOutput) && output.verdict === 'allow')
    return readInvalidJson(asked, decoded(output, notes));
  return decoded(output, [...notes, ...noteTextBesideJson(processOutput)]);
}

function findDenial(
  point: PointName,
  asked: HookQuestion,
  processOutput: ProcessOutput,
): Decoded<Answer> | undefined {
  // Exit code 2 overrides everything that a Stop rule prints. SessionStart cannot be stopped.
  if ((point === 'Stop' && processOutput.exitCode === 2) || point === 'SessionStart') return undefined;
  for (const body of findEmbeddedObjects(processOutput)) {
    if (findRepeatedKey(body) !== undefined) return readers[point](asked, { ...processOutput, body });
    const denial = readKnown(point, asked, {
      ...processOutput,
      body,
      text: body.json.text,
      failure: undefined,
    });
    if (denial === undefined || !isDenial(denial.output)) continue;
    const message = 'its denial counts, although stdout has other text too: print one JSON object';
    return decoded(denial.output, [...denial.notes, { level: 'warn', message }]);
  }
  return undefined;
}

/** The object may be a log line. Returns undefined if it is REPLY_MALFORMED. */
function readKnown(
  point: PointName,
  asked: HookQuestion,
  processOutput: ProcessOutput,
): Decoded<Answer> | undefined {
  try {
    return readers[point](asked, processOutput);
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'REPLY_MALFORMED') return undefined;
    throw error;
  }
}

function isDenial(answer: Answer): boolean {
  if (answer.verdict === 'deny' || answer.verdict === 'abort') return true;
  return ruleResultIn(answer)['force_continue'] === true;
}

function readObserver(asked: HookQuestion, processOutput: ProcessOutput): Decoded<Answer> {
  if (processOutput.failure !== undefined) return readExitFailure(asked, processOutput.failure);
  return decoded(answers.allow());
}

const camel = 'permissionDecision';
const snake = 'permission_decision';

function noteMisplacedDecision(point: string, body: Body, { verdict }: Answer): readonly Note[] {
  if (verdict === 'deny' || verdict === 'abort') return [];
  const key = findMisplacedKey(point, body);
  if (key === undefined) return [];
  const right =
    point === 'PreToolUse'
      ? 'write `{"hookSpecificOutput": {"permissionDecision": …}}`'
      : `${point} has no permission decision; deny with \`{"blockingError": …}\``;
  return [{ level: 'warn', message: `its \`${key}\` has no effect: ${right}` }];
}

function findMisplacedKey(point: string, body: Body): string | undefined {
  const read = point === 'PreToolUse' ? [snake] : [camel, snake];
  const places: readonly (readonly [container: string | undefined, keys: readonly string[]])[] = [
    [undefined, [camel, snake]],
    ['hook_specific_output', [camel, snake]],
    ['hookSpecificOutput', read],
  ];
  for (const [container, keys] of places) {
    const members = container === undefined ? body : objectAt(body, container);
    const key = keys.find((each) => nonNull(members?.get(each)) !== undefined);
    if (key !== undefined) return container === undefined ? key : `${container}.${key}`;
  }
  return undefined;
}

/**
 * The stdin of a rule: Agentao's envelope, and beside it the members that a Claude Code handler expects. Stop and
 * PreCompact are flat in both systems. The JSON is formatted like Python's, because scripts grep it. Source: developer
 * guide, chapter 5.7, and `_run_subprocess` of agentao/plugins/hooks/_dispatcher.py.
 */
export function encode({ cwd }: HookEntry<AgentaoSettings>, question: Question): Message {
  const point = requirePoint(question.point);
  const payload = isFlat(point) ? flatOf(cwd, question) : envelopeOf(point, cwd, question);
  return { method: point, body: toPythonJson(stringifyJson(payload)), terminator: '' };
}

function flatOf(cwd: string, { point, payload, hookContext }: Question): Payload {
  const { session_id, transcript } = hookContext;
  const permission_mode = 'workspace-write';
  const common = { hook_event_name: point, session_id, transcript_path: transcript, cwd, permission_mode };
  return { ...common, ...payload, hook_event_name: point };
}

function envelopeOf(point: PointName, cwd: string, question: Question): Payload {
  const { payload } = question;
  const given = dataOf(payload);
  const cwdMember = { cwd: textAt(given, 'cwd') ?? cwd };
  const isAboutTool = point === 'PreToolUse' || point === 'PostToolUse' || point === 'PostToolUseFailure';
  const data = isAboutTool ? given : { ...given, ...cwdMember };
  const session_id = textAt(given, 'sessionId') ?? question.hookContext.session_id;
  const common = flatOf(cwdMember.cwd, { ...question, payload: { session_id } });
  return { event: point, data, ...common, ...ownMembers(point, question), ...outerMembersOf(payload) };
}

function ownMembers(point: PointName, { payload, hookContext }: Question): Payload {
  const data = dataOf(payload);
  switch (point) {
    case 'UserPromptSubmit':
      return { prompt: data['userMessage'] };
    case 'SessionStart':
      return { source: hookContext.isResumed ? 'resume' : 'startup' };
    case 'SessionEnd':
      return { reason: 'other' };
    case 'PreToolUse':
      return callMembers(payload);
    case 'PostToolUse':
      return { ...callMembers(payload), tool_response: responseOf(textAt(data, 'toolOutput') ?? '') };
    case 'PostToolUseFailure':
      return { ...callMembers(payload), error: payload['error'] };
    case 'Stop':
    case 'PreCompact':
      return {};
  }
}

function callMembers(payload: Payload): Payload {
  const tool_name = toolNameIn(payload);
  const tool_input = withFilePath(tool_name, Json.from(dataOf(payload)['toolInput'] ?? {}));
  return { tool_name, tool_input, tool_use_id: payload['tool_use_id'] ?? '' };
}

const fileTools: readonly string[] = ['Read', 'Write', 'Edit'];

function withFilePath(tool: string, input: Json): Json {
  if (!fileTools.includes(tool) || !isObject(input.value)) return input;
  const members = scanMembers(input.text);
  const path = memberOf(input.text, members, 'path');
  if (path === undefined || members.some(({ key }) => key === 'file_path')) return input;
  return new Json(`${input.text.slice(0, input.text.lastIndexOf('}'))},"file_path":${path.text}}`);
}

function responseOf(output: string): unknown {
  try {
    const json = new Json(output.trim());
    return typeof json.value === 'object' && json.value !== null ? json : output;
  } catch {
    return output;
  }
}

/**
 * Rewrites a JSON text as Python's `json.dumps` prints it: `, ` and `: ` as separators, non-ASCII characters escaped,
 * floats as by `repr`. Integers and numbers beyond the range of a double keep their digits.
 */
export function toPythonJson(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at);
    if (character === '"') {
      const end = endOfString(text, at);
      parts.push(writeString(text.slice(at, end)));
      at = end;
    } else if (isNumeral(character)) {
      const [numeral = character] = numeralAt(text, at);
      parts.push(writeNumber(numeral));
      at += numeral.length;
    } else {
      if (!/\s/.test(character)) parts.push(separators[character] ?? character);
      at += 1;
    }
  }
  return parts.join('');
}

const separators: Readonly<Record<string, string>> = { ',': ', ', ':': ': ' };

function isNumeral(character: string): boolean {
  return character === '-' || (character >= '0' && character <= '9');
}

function numeralAt(text: string, at: number): RegExpExecArray | [] {
  const numeral = /[-+0-9.eE]+/y;
  numeral.lastIndex = at;
  return numeral.exec(text) ?? [];
}

function writeString(token: string): string {
  if (/^[ -~]*$/.test(token) && !token.includes('\\')) return token;
  const text = String(JSON.parse(token));
  return `"${text.replaceAll(/["\\]|[^ -~]/g, writeUnit)}"`;
}

/** Python escapes each half of a surrogate pair. */
function writeUnit(unit: string): string {
  return shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

function writeNumber(numeral: string): string {
  if (!/[.eE]/.test(numeral)) return numeral === '-0' ? '0' : numeral;
  const value = Number(numeral);
  // Python would write `Infinity`, which only Python's own JSON reader accepts.
  return Number.isFinite(value) ? writeFloat(value) : numeral;
}

/** Python's repr uses the fewest digits, and an exponent below -4 and from 16 on. */
function writeFloat(value: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${sign}${mantissa}e${writeExponent(power)}`;
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, '0');
  return `${sign}${whole}.${digits.slice(power + 1) || '0'}`;
}

function writeExponent(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

export const trial: Trial<AgentaoSettings> = {
  settingsAt: ({ matcher: _matcher, ...settings }, { point }) => ({ ...settings, event: point }),
  payloadAt: (point) => samplePayload(shapes[requirePoint(point)].own),
  consentAt: () => '',
  failsOpenBy: ['agentao.exit_nonzero', 'agentao.bad_json', 'agentao.timeout', 'agentao.spawn'],
  passesAt: (point) => ({
    silence: 'agentao.no_opinion',
    text: 'agentao.plain_text',
    ...(point === 'Stop' && { 'exit 2': 'agentao.exit_2' }),
  }),
};
