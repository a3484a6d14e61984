import { isObject, Json } from '../../../json/json.ts';
import { membersOf } from '../../../json/scan.ts';
import { type Body, malformed, nonNull } from '../../body.ts';
import type { HookEntry, Question } from '../../foreign-dialect.ts';
import type { Changes } from '../changes.ts';
import type { PicoclawSettings } from '../config/settings.ts';
import { foldObject, foldWithText } from '../json-parts.ts';
import { readResponseObject, responseKeys } from '../wire/response.ts';

/** What a `response` changes of a model's answer: its whole message. Throws REPLY_MALFORMED where it is none. */
export function readResponse(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const isHead = settings.version === 'head';
  const inner = innerOf(foldObject(object, '`response`', ['response', ...responseKeys]), isHead);
  const given = foldWithText(inner, 'content', responseKeys);
  readResponseObject(given, '`response`');
  const kept = isHead ? {} : keptOf(Json.from(payload['response'] ?? {}));
  return { replace: { response: { ...kept, ...withoutParams(given) } } };
}

/** The object that has the text: the inner one, or by the page the outer one where it plainly has it. */
function innerOf(body: Body, isHead: boolean): Json {
  const inner = nonNull(body.get('response'));
  if (inner !== undefined && isObject(inner.value)) return inner;
  if (!isHead && typeof body.get('content')?.value === 'string') return body.json;
  throw malformed('`response` has no `response` with a text');
}

/** What a hook may leave out of a message; tool calls that it does not repeat are gone. */
function keptOf(sent: Json) {
  const { tool_calls: _calls, ...kept } = membersOf(sent);
  return kept;
}

/** Without the params that stand beside a flat text. */
function withoutParams(inner: Json) {
  const {
    meta: _meta,
    context: _context,
    model: _model,
    channel: _channel,
    chat_id: _chat,
    ...rest
  } = membersOf(inner);
  return rest;
}
