import { isObject, Json } from '../../../json/json.ts';
import { membersOf } from '../../../json/scan.ts';
import { type Body, malformed, nonNull } from '../../body.ts';
import type { Note } from '../../dialect.ts';
import type { HookEntry, Question } from '../../foreign-dialect.ts';
import type { Changes } from '../changes.ts';
import type { PicoclawSettings } from '../config/settings.ts';
import { foldObject, foldWithText } from '../json-parts.ts';
import { defaultResult, readResultObject, resultKeys } from '../wire/tool.ts';

/** What a `result` changes of a tool's result: the text for the model. Throws REPLY_MALFORMED where it is none. */
export function readResult(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const outer = foldObject(object, '`result`', ['result', 'for_llm']);
  const inner = innerOf(outer, settings.version === 'head');
  const { text, others } = readResultObject(foldWithText(inner, 'for_llm', resultKeys), '`result`');
  const beside = Object.fromEntries(
    Object.entries(others).filter(([key]) => Object.hasOwn(defaultResult, key)),
  );
  const notes = noteError(beside['is_error'], Json.from(payload['result'] ?? {}));
  return {
    replace: { content: text },
    notes,
    ...(Object.keys(beside).length > 0 && { beside: { result: beside } }),
  };
}

/** The object that has the text: the inner one, or by the page the outer one where it plainly has it. */
function innerOf(body: Body, isHead: boolean): Json {
  const inner = nonNull(body.get('result'));
  if (inner !== undefined && isObject(inner.value)) return inner;
  if (!isHead && typeof body.get('for_llm')?.value === 'string') return body.json;
  throw malformed('`result` has no `result` with a text for the model');
}

function noteError(given: Json | undefined, sent: Json): Note[] {
  if (given === undefined || given.text === membersOf(sent)['is_error']?.text) return [];
  return [{ level: 'warn', message: 'its change of `is_error` has no effect: the call ended as it did' }];
}
