import { createHash } from 'node:crypto';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json/equal.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { tryParseLossless } from '../../base/json/parse.ts';
import {
  anyMembers,
  anything,
  fits,
  keyOf,
  listOf,
  members,
  number,
  oneOf,
  optional,
  readShape,
  type Shape,
  shapeOf,
  text,
} from '../../base/json/shape.ts';
import type { Redact } from '../../contract/scrub.ts';
import { readStoredFault } from '../../contract/stored-fault.ts';
import { versionError } from '../../process/cassette/format.ts';
import { hideSecrets } from '../provider-error.ts';

export function describeModelCall(
  about: Omit<ModelCallRequest, 'request'>,
  { abortSignal: _, headers: __, ...settings }: LanguageModelV4CallOptions,
): ModelCallRequest {
  return { ...about, request: encodeSdkValue(settings, 'drop') };
}

export function redactCall(call: ModelCallRequest, redact: Redact): ModelCallRequest {
  return { ...call, request: redactTree(call.request, redact) };
}

export function digestCall({ provider, model, mode, request }: ModelCallRequest): string {
  return createHash('sha256').update(canonicalJson({ provider, model, mode, request })).digest('hex');
}

/** One line of JSON without a line end, without the secrets and without what `redact` removes. */
export function encodeRecordedCall(
  exchange: RecordedCall,
  secrets: readonly string[],
  redact?: Redact,
): string {
  const request = hideStrings(exchange.request, secrets);
  const safeOutcome = hideStrings(encodeSdkValue(exchange.outcome, 'keep'), secrets);
  const outcome = redact === undefined ? safeOutcome : redactTree(safeOutcome, redact);
  return stringifyJson({ v: VERSION, ...exchange, request, outcome });
}

/**
 * Undefined for a line without a recorded call, such as a truncated one. Throws FILE_UNREADABLE for a damaged call or
 * one of another version.
 */
export function decodeRecordedCall(line: string, where: string): RecordedCall | undefined {
  const value = tryParseLossless(line);
  if (!isObject(value) || typeof value['v'] !== 'number') return undefined;
  if (value['v'] !== VERSION) throw versionError(where, value['v']);
  try {
    const { provider, model, mode, request, recorder, number, digest } = value;
    const outcome = decodeSdkValue(value['outcome']);
    const call = { provider, model, mode, request, recorder, number, digest, outcome };
    return readShape(callShape, call, (path) => new Error(`at ${path}`));
  } catch (cause) {
    const message = `${where} is not a recorded model call: ${toRuntimeError(cause).message}`;
    throw new RuntimeError('FILE_UNREADABLE', message, {
      hint: 'Remove the line, or record again.',
      cause,
    });
  }
}

const VERSION = 1;

function redactTree(value: unknown, redact: Redact): unknown {
  return parseLossless(redact(stringifyJson(value)));
}

/** Keys stay unchanged: the secrets that a model may repeat are in string values. */
function hideStrings(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return hideSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((member) => hideStrings(member, secrets));
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, hideStrings(member, secrets)]);
  return Object.fromEntries(members);
}

/**
 * Converts a value of the AI SDK to plain JSON. A date becomes `{"$": "date", "value": …}`. Bytes, URLs, errors and,
 * unless dropped, undefined members have the same form.
 */
export function encodeSdkValue(value: unknown, absent: 'keep' | 'drop'): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (value instanceof Json) return parseLossless(value.text);
  if (Array.isArray(value)) return value.map((member) => encodeSdkValue(member, absent));
  if (value instanceof Date) return { $: 'date', value: value.toISOString() };
  if (value instanceof Uint8Array) return { $: 'bytes', value: Buffer.from(value).toString('base64') };
  if (value instanceof URL) return { $: 'url', value: value.href };
  if (value instanceof Error) return { $: 'error', value: encodeMembers(toFault(value), absent) };
  const members = encodeMembers(value, absent);
  return '$' in members ? { $: 'object', value: members } : members;
}

export function decodeSdkValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeSdkValue);
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const { $: kind, value: inner } = value;
  if (kind === 'date') return decodeDate(String(inner));
  if (kind === 'bytes') return new Uint8Array(Buffer.from(String(inner), 'base64'));
  if (kind === 'url') return new URL(String(inner));
  if (kind === 'error') return decodeError(inner);
  if (kind === 'undefined') return undefined;
  return decodeMembers(kind === 'object' && isObject(inner) ? inner : value);
}

function decodeError(fault: unknown): RuntimeError {
  const { code, message, hint, details } = readStoredFault(fault, 'PROVIDER_FAILED');
  return new RuntimeError(code, message, { hint, details: details && decodeMembers(details) });
}

function decodeDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new Error(`${JSON.stringify(text)} is not a date`);
  return date;
}

function encodeMembers(object: object, absent: 'keep' | 'drop'): Record<string, unknown> {
  const members = Object.entries(object).flatMap(([key, member]): [string, unknown][] => {
    if (member !== undefined) return [[key, encodeSdkValue(member, absent)]];
    return absent === 'keep' ? [[key, { $: 'undefined' }]] : [];
  });
  return Object.fromEntries(members);
}

function decodeMembers(object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, member]) => [key, decodeSdkValue(member)]));
}

export interface ModelCallRequest {
  readonly provider: string;
  readonly model: string;
  readonly mode: 'generate' | 'stream';
  /** Prompt, tools and settings as JSON; no headers. */
  readonly request: unknown;
}

export interface RecordedCall extends ModelCallRequest {
  /** The digest of the call before its provider's secrets were removed. */
  readonly digest: string;
  /** The recorder, and the call's number in it. Calls overlap, and end in another order. */
  readonly recorder: string;
  readonly number: number;
  readonly outcome: CallOutcome;
}

export type CallOutcome =
  | { readonly kind: 'result'; readonly result: LanguageModelV4GenerateResult }
  | { readonly kind: 'parts'; readonly parts: readonly LanguageModelV4StreamPart[] }
  | { readonly kind: 'error'; readonly error: RuntimeError };

const finishReason = members<LanguageModelV4FinishReason>({
  unified: oneOf('stop', 'length', 'content-filter', 'tool-calls', 'interrupted', 'error', 'other'),
  raw: optional(text),
});

const tokens = optional(number);
const usage = members({
  inputTokens: members({ total: tokens, noCache: tokens, cacheRead: tokens, cacheWrite: tokens }),
  outputTokens: members({ total: tokens, text: tokens, reasoning: tokens }),
});

const partTexts: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  file: ['mediaType'],
  'reasoning-file': ['mediaType'],
  'tool-call': ['toolCallId', 'toolName', 'input'],
  'tool-result': ['toolCallId', 'toolName'],
  'tool-approval-request': ['approvalId', 'toolCallId'],
  source: ['sourceType', 'id'],
  'text-start': ['id'],
  'text-delta': ['id', 'delta'],
  'text-end': ['id'],
  'reasoning-start': ['id'],
  'reasoning-delta': ['id', 'delta'],
  'reasoning-end': ['id'],
  'tool-input-start': ['id', 'toolName'],
  'tool-input-delta': ['id', 'delta'],
  'tool-input-end': ['id'],
};

const partShapes: ReadonlyMap<string, Shape<object>> = new Map<string, Shape<object>>([
  ...Object.entries(partTexts).map(([type, keys]) => [type, members(textsOf(keys))] as const),
  ['stream-start', members({ warnings: listOf(anyMembers) })],
  ['finish', members({ finishReason, usage })],
]);

function textsOf(keys: readonly string[]): Readonly<Record<string, Shape<string>>> {
  return Object.fromEntries(keys.map((key) => [key, text]));
}

const part: Shape<{ readonly type: string }> = {
  misfit: (value) => {
    const misfit = members({ type: text }).misfit(value);
    const type = typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';
    return misfit ?? partShapes.get(type)?.misfit(value);
  },
};

const result = members({ content: listOf(part), finishReason, usage, warnings: listOf(anyMembers) });
const outcomes: Readonly<Record<CallOutcome['kind'], Shape<object>>> = {
  result: members({ result }),
  parts: members({ parts: listOf(part) }),
  error: members({ error: shapeOf((value): value is Error => value instanceof Error) }),
};

export const outcome: Shape<CallOutcome> = {
  misfit: (value) => {
    const kind = members({ kind: keyOf(outcomes) });
    return fits(kind, value) ? outcomes[value.kind].misfit(value) : kind.misfit(value);
  },
};

const callShape = members<RecordedCall>({
  provider: text,
  model: text,
  mode: oneOf('generate', 'stream'),
  request: anything,
  recorder: text,
  number,
  digest: text,
  outcome,
});
