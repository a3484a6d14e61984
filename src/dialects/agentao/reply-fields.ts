import { isObject, type Json } from '../../base/json/json.ts';
import { asText } from '../../base/json/parse.ts';
import { elementsOf } from '../../base/json/scan.ts';
import { type Body, excerpt, isAmbiguous, malformed, nonNull, objectAt, toBody } from '../body.ts';

/** A reply whose members may use the spelling of Agentao, its guide (snake_case), attachment records or Claude. */
export interface ReplyFields {
  readonly body: Body;
  readonly specific: Body | undefined;
  readonly records: readonly PrintedAttachment[];
}

interface PrintedAttachment {
  readonly type: string;
  readonly payload: Body | undefined;
}

/**
 * Throws REPLY_MALFORMED for an attachment record of unknown type, which may be a verdict, and for a repeated verdict
 * key.
 */
export function readFields(body: Body): ReplyFields {
  const twice = findRepeatedKey(body);
  if (twice !== undefined) throw malformed(`the reply says \`${twice}\` more than once`);
  return { body, specific: objectAt(body, 'hookSpecificOutput'), records: readRecords(body) };
}

const verdictKeys = [
  ...['decision', 'continue', 'preventContinuation', 'prevent_continuation'],
  ...['blockingError', 'blocking_error', 'hook_blocking_error', 'attachment_type', 'messages'],
  ...['force_continue', 'forceContinue', 'hookSpecificOutput', 'permissionDecision'],
  ...['updatedInput', 'updatedToolOutput', 'updatedMCPToolOutput'],
];

export function findRepeatedKey(body: Body): string | undefined {
  const specific = objectAt(body, 'hookSpecificOutput');
  const places = [body, ...(specific === undefined ? [] : [specific]), ...objectsIn(body.get('messages'))];
  return verdictKeys.find((word) => places.some((each) => isAmbiguous(each, word)));
}

const recordTypes = [
  'hook_additional_context',
  'hook_success',
  'hook_stopped_continuation',
  'hook_blocking_error',
];

function readRecords(body: Body): PrintedAttachment[] {
  return [body, ...objectsIn(body.get('messages'))].flatMap((each) => {
    const type = nonNull(each.get('attachment_type'))?.value;
    if (type === undefined) return [];
    if (typeof type === 'string' && recordTypes.includes(type)) {
      return [{ type, payload: objectAt(each, 'payload') }];
    }
    throw malformed(`the reply has the unknown attachment_type ${excerpt(asText(type))}`);
  });
}

function objectsIn(json: Json | undefined): Body[] {
  return listIn(json)
    .filter(({ value }) => isObject(value))
    .map((each) => toBody(each));
}

function listIn(json: Json | undefined): Json[] {
  if (json === undefined || !Array.isArray(json.value)) return [];
  return elementsOf(json);
}

function membersAt({ body }: ReplyFields, keys: readonly string[]): Json[] {
  return keys.flatMap((key) => nonNull(body.get(key)) ?? []);
}

export function textOf(fields: ReplyFields, ...keys: readonly string[]): string | undefined {
  return membersAt(fields, keys).map(textIn).find(hasText);
}

export function specificTextOf({ specific }: ReplyFields, ...keys: readonly string[]): string | undefined {
  return keys.map((key) => textIn(specific?.get(key))).find(hasText);
}

function textIn(json: Json | undefined): string | undefined {
  return typeof json?.value === 'string' ? json.value : undefined;
}

function hasText(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}

export function isAnyTrue(fields: ReplyFields, ...keys: readonly string[]): boolean {
  return membersAt(fields, keys).some(({ value }) => value === true);
}

export const noReason = 'the hook gave no reason';

export function blockingErrorOf(fields: ReplyFields): string | undefined {
  const [given] = membersAt(fields, ['blockingError', 'blocking_error', 'hook_blocking_error']);
  if (given !== undefined) return errorText(given);
  const record = fields.records.find(({ type }) => type === 'hook_blocking_error');
  if (record === undefined) return undefined;
  return errorText(nonNull(record.payload?.get('error')));
}

function errorText(given: Json | undefined): string {
  const { value } = given ?? {};
  const text = isObject(value) ? [value['error'], value['message'], value['reason']].find(isText) : value;
  if (isText(text)) return text;
  return isEmpty(value) ? noReason : excerpt(given?.text ?? '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (typeof value !== 'object' || value === null) return !value;
  return Object.values(value).every((each) => each === null || each === '');
}

interface Halt {
  readonly reason: string | undefined;
}

/** `preventContinuation`: any truthy value, or a record that says so. */
export function preventContinuationOf(fields: ReplyFields): Halt | undefined {
  const given = membersAt(fields, ['preventContinuation', 'prevent_continuation']);
  const record = fields.records.find(({ type }) => type === 'hook_stopped_continuation');
  if (!given.some(({ value }) => Boolean(value)) && record === undefined) return undefined;
  return { reason: stopReasonOf(fields) ?? recordReason(record) };
}

export function continueFalseOf(fields: ReplyFields): Halt | undefined {
  const given = nonNull(fields.body.get('continue'));
  if (given === undefined || given.value === true) return undefined;
  if (given.value === false) return { reason: stopReasonOf(fields) };
  throw malformed(`the reply's \`continue\` is neither true nor false: ${excerpt(given.text)}`);
}

export function stopReasonOf(fields: ReplyFields): string | undefined {
  return textOf(fields, 'stopReason', 'stop_reason');
}

function recordReason(record: PrintedAttachment | undefined): string | undefined {
  return [textIn(record?.payload?.get('reason'))].find(hasText);
}

/** Throws REPLY_MALFORMED for a word that Claude's top-level `decision` does not have. */
export function decisionOf({ body }: ReplyFields): 'block' | 'approve' | undefined {
  const decision = nonNull(body.get('decision'));
  switch (decision?.value) {
    case undefined:
      return undefined;
    case 'block':
    case 'deny':
      return 'block';
    case 'approve':
      return 'approve';
    default:
      throw malformed(`the reply has the unknown decision ${excerpt(decision?.text ?? '')}`);
  }
}

export function contextsOf(fields: ReplyFields): string[] {
  const keys = ['additionalContext', 'additional_context', 'additionalContexts', 'additional_contexts'];
  const records = fields.records
    .filter(({ type }) => type === 'hook_additional_context')
    .flatMap(({ payload }) => nonNull(payload?.get('context')) ?? []);
  const specific = nonNull(fields.specific?.get('additionalContext'));
  return [...(specific === undefined ? [] : [specific]), ...membersAt(fields, keys), ...records].flatMap(
    textsIn,
  );
}

function textsIn(json: Json): string[] {
  if (typeof json.value === 'string') return json.value === '' ? [] : [json.value];
  return listIn(json)
    .filter(({ text }) => text !== 'null')
    .map((each) => (typeof each.value === 'string' ? each.value : each.text));
}

/** Returns whether the reply has any verdict, context or record. Then a non-zero exit code is no failure. */
export function hasAnswer(fields: ReplyFields): boolean {
  return (
    decisionOf(fields) !== undefined ||
    continueFalseOf(fields) !== undefined ||
    preventContinuationOf(fields) !== undefined ||
    blockingErrorOf(fields) !== undefined ||
    contextsOf(fields).length > 0 ||
    fields.records.length > 0
  );
}
