import { createHash } from 'node:crypto';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { RuntimeError } from '../../errors.ts';
import { isObject, parseLossless, stringifyJson } from '../../json/json.ts';
import { hideSecrets } from '../open/provider-error.ts';
import { canonicalJson, decodeSdkValue, encodeSdkValue } from './sdk-value.ts';

/** A model call as far as its answer depends on it. */
export interface ModelCallRequest {
  /** The id of its entry. */
  readonly provider: string;
  readonly model: string;
  readonly mode: 'generate' | 'stream';
  /** Prompt, tools and settings as JSON; no headers. */
  readonly request: unknown;
}

/** A model call and its outcome: one line of a recording. */
export interface RecordedCall extends ModelCallRequest {
  /** The digest of the call before its provider's secrets were taken out. */
  readonly digest: string;
  /** The recorder that wrote it, and the call's number there: calls overlap, and end in another order. */
  readonly recorder: string;
  readonly number: number;
  readonly outcome: CallOutcome;
}

export type CallOutcome =
  | { readonly kind: 'result'; readonly result: LanguageModelV4GenerateResult }
  | { readonly kind: 'parts'; readonly parts: readonly LanguageModelV4StreamPart[] }
  | { readonly kind: 'error'; readonly error: RuntimeError };

export function describeModelCall(
  about: Omit<ModelCallRequest, 'request'>,
  { abortSignal: _, headers: __, ...settings }: LanguageModelV4CallOptions,
): ModelCallRequest {
  return { ...about, request: encodeSdkValue(settings, 'drop') };
}

/** Takes secrets out of a text; JSON stays JSON. */
export type Redact = (text: string) => string;

/** The call without what `redact` takes out. */
export function redactCall(call: ModelCallRequest, redact: Redact): ModelCallRequest {
  return { ...call, request: redactTree(call.request, redact) };
}

/** SHA-256 in hexadecimal of provider, model, mode and request, by which a recorded call is found. */
export function digestCall({ provider, model, mode, request }: ModelCallRequest): string {
  return createHash('sha256').update(canonicalJson({ provider, model, mode, request })).digest('hex');
}

/** One line of JSON, without its end, without the secrets and without what `redact` takes out. */
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

/** Undefined for a line that is no exchange, such as one that was cut off. */
export function decodeRecordedCall(line: string): RecordedCall | undefined {
  const value = parseLine(line);
  if (!isObject(value) || value['v'] !== VERSION) return undefined;
  const { provider, model, mode, request, recorder, number, digest } = value;
  const outcome = decodeSdkValue(value['outcome']);
  if (
    typeof provider !== 'string' ||
    typeof model !== 'string' ||
    typeof recorder !== 'string' ||
    typeof digest !== 'string'
  )
    return undefined;
  if ((mode !== 'generate' && mode !== 'stream') || typeof number !== 'number') return undefined;
  if (!isOutcome(outcome)) return undefined;
  return { provider, model, mode, request, recorder, number, digest, outcome };
}

const VERSION = 1;

function redactTree(value: unknown, redact: Redact): unknown {
  return parseLossless(redact(stringifyJson(value)));
}

/** Keys stay as they are: what a model may be made to repeat stands in strings. */
function hideStrings(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return hideSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((member) => hideStrings(member, secrets));
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, hideStrings(member, secrets)]);
  return Object.fromEntries(members);
}

function parseLine(line: string): unknown {
  try {
    return parseLossless(line);
  } catch {
    return undefined;
  }
}

/** Only the outline is checked: the lines are Signalbox's own. */
function isOutcome(value: unknown): value is CallOutcome {
  if (!isObject(value)) return false;
  const { kind, result, parts, error } = value;
  if (kind === 'result') return isObject(result) && Array.isArray(result['content']);
  if (kind === 'parts') return Array.isArray(parts) && parts.every(isObject);
  return kind === 'error' && error instanceof Error;
}
