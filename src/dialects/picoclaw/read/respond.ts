import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { membersOf } from '../../../json/scan.ts';
import { type Body, nonNull } from '../../body.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import type { HookEntry } from '../../foreign-dialect.ts';
import { denyFailure } from '../failure.ts';
import { foldObject } from '../json-parts.ts';
import { resultKeys } from '../wire/tool.ts';
import { metadataOf, reasonOf } from './reply.ts';

/** Decodes the action `respond`: the result in the tool's place. Without a usable result it denies. */
export function readRespond(entry: HookEntry<unknown>, body: Body, notes: readonly Note[]): Decoded<Answer> {
  const refuse = (what: string) => denyFailure(entry, `answered for the tool ${what}`, { notes });
  const result = resultOf(body);
  if (result === undefined) return refuse('without a result');
  if (!isObject(result.value)) return refuse('with what is no object');
  const { for_llm: text, is_error, ...others } = membersOf(foldObject(result, '`result`', resultKeys).json);
  if (typeof text?.value !== 'string') return refuse('without a `for_llm`');
  const isError = nonNull(is_error)?.value ?? false;
  if (typeof isError !== 'boolean') return refuse('with an `is_error` that is neither true nor false');
  const respond = answers.respond(text, {
    reason: reasonOf(body),
    metadata: metadataOf(body, { ...(is_error && { is_error }), ...pick(others, recordedKeys) }),
  });
  const { response_handled: handledFlag, silent, for_user: forUser, media } = others;
  // No channel takes media here. PicoClaw takes back `response_handled` then, and asks the model again.
  const isUndelivered = Array.isArray(media?.value) && media.value.length > 0;
  const isHandled = handledFlag?.value === true && !isUndelivered;
  // What is silent is for nobody to read but the model.
  const handled = isHandled ? { handled: silent?.value === true ? '' : textOf(forUser) } : {};
  return decoded({ ...respond, ...(isError && { isError }), ...handled }, [
    ...notes,
    ...(isUndelivered ? [undelivered] : []),
  ]);
}

const undelivered: Note = {
  level: 'warn',
  message: 'it answered with `media`, which nobody is sent: the references are in metadata.picoclaw.media',
};

const recordedKeys = ['for_user', 'silent', 'media', 'artifact_tags', 'response_handled'];

function resultOf(body: Body): Json | undefined {
  const call = body.get('call');
  const own = nonNull(body.get('result'));
  if (own !== undefined || call === undefined || !isObject(call.value)) return own;
  return nonNull(foldObject(call, '`call`', ['hook_result']).get('hook_result'));
}

function pick(parts: Readonly<Record<string, Json>>, keys: readonly string[]) {
  return Object.fromEntries(Object.entries(parts).filter(([key]) => keys.includes(key)));
}

function textOf(json: Json | undefined): string {
  return typeof json?.value === 'string' ? json.value : '';
}
