import { createHash } from 'node:crypto';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json/equal.ts';
import { isObject, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { readShape } from '../../base/json/shape.ts';
import { tryParseLossless } from '../../base/json/try-parse.ts';
import type { Redact } from '../../contract/scrub.ts';
import { versionError } from '../../process/cassette/scan.ts';
import { hideSecrets } from '../provider-error.ts';
import { callShape, type ModelCallRequest, type RecordedCall } from './model-call.ts';
import { decodeSdkValue, encodeSdkValue } from './sdk-value.ts';

export function describeModelCall(
  about: Omit<ModelCallRequest, 'request'>,
  { abortSignal: _, headers: __, ...settings }: LanguageModelV4CallOptions,
): ModelCallRequest {
  return { ...about, request: encodeSdkValue(settings, 'drop') };
}

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

/**
 * Reads the line at `where`; undefined when it holds no recorded call, such as one that was cut off. Throws
 * FILE_UNREADABLE for a call of another version, or one that is damaged.
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
    const message = `${where} is no recorded model call: ${toRuntimeError(cause).message}`;
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

/** Keys stay as they are: what a model may be made to repeat stands in strings. */
function hideStrings(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return hideSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((member) => hideStrings(member, secrets));
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, hideStrings(member, secrets)]);
  return Object.fromEntries(members);
}
