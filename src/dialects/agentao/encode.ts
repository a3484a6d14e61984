import { endOfString } from '../../base/json/ends.ts';
import { isObject, Json, stringifyJson } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';
import type { Message } from '../../contract/exchange.ts';
import type { HookEntry, Payload, Question } from '../foreign-dialect.ts';
import { textAt } from '../payload-table.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { dataOf, outerMembersOf, toolNameIn } from './envelope.ts';
import { isFlat, type PointName, requirePoint } from './points.ts';

/**
 * What a rule reads on stdin: Agentao's envelope and, beside it, the members that a Claude Code handler looks for;
 * Stop and PreCompact are flat in both systems. Written as Python writes it, since scripts grep it. Source: developer
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

/** The members that only this event has in Claude Code. */
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

/** Claude's tools for files have their path under another name. */
function withFilePath(tool: string, input: Json): Json {
  if (!fileTools.includes(tool) || !isObject(input.value)) return input;
  const members = scanMembers(input.text);
  const path = memberOf(input.text, members, 'path');
  if (path === undefined || members.some(({ key }) => key === 'file_path')) return input;
  return new Json(`${input.text.slice(0, input.text.lastIndexOf('}'))},"file_path":${path.text}}`);
}

/** A structured result as it is, a text as a string. */
function responseOf(output: string): unknown {
  try {
    const json = new Json(output.trim());
    return typeof json.value === 'object' && json.value !== null ? json : output;
  } catch {
    return output;
  }
}

/**
 * Rewrites a JSON text as Python's `json.dumps` would print it: `, ` and `: ` as separators, non-ASCII
 * characters escaped, floats as by `repr`. Integers keep their digits, and so do numbers beyond the range of
 * a double.
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

/** One UTF-16 unit at a time, as Python writes surrogate pairs. */
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
  // Python would write `Infinity`, which no reader of JSON but Python takes.
  return Number.isFinite(value) ? writeFloat(value) : numeral;
}

/** Python's repr: the fewest digits that are the number, with an exponent below -4 and from 16 on. */
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
