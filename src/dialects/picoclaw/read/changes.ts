import { isObject, Json } from '../../../json/json.ts';
import { membersOf } from '../../../json/scan.ts';
import { type Body, malformed, nonNull } from '../../body.ts';
import type { Note } from '../../dialect.ts';
import type { HookEntry, Question } from '../../foreign-dialect.ts';
import { toPlainValue } from '../../payload.ts';
import type { PicoclawSettings } from '../config/settings.ts';
import { foldObject, foldWithText } from '../json-parts.ts';
import { readResponseObject, responseKeys } from '../wire/response.ts';
import { defaultResult, readResultObject, resultKeys } from '../wire/tool.ts';

/**
 * The changes that a reply makes, with the members of a decision's `replace`; or the reason why it denies.
 */
export type Changes =
  | {
      readonly replace: Readonly<Record<string, unknown>>;
      readonly notes?: readonly Note[];
      /** Further members for the metadata. */
      readonly beside?: Readonly<Record<string, unknown>>;
    }
  /** The end of a sentence about the hook. */
  | { readonly deny: string };

/** What a `call` changes of a tool call: arguments and name. Throws REPLY_MALFORMED where it is none. */
export function readCall(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const body = foldObject(object, '`call`', ['tool', 'arguments']);
  const isHead = settings.version === 'head';
  const given = body.get('arguments') ?? (isHead ? new Json('{}') : undefined);
  // A Go hook that has cleared its map writes null.
  const args = given?.text === 'null' ? new Json('{}') : given;
  const tool = nonNull(body.get('tool'))?.value ?? (isHead ? '' : toPlainValue(payload['tool']));
  if (typeof tool !== 'string') throw malformed('`call.tool` is not a string');
  if (args !== undefined && !isObject(args.value)) throw malformed('`call.arguments` is not an object');
  const isRenamed = tool !== toPlainValue(payload['tool']);
  return { replace: { ...(args !== undefined && { args }), ...(isRenamed && { name: tool }) } };
}

/** What a `response` changes of a model's answer: its whole message. Throws REPLY_MALFORMED where it is none. */
export function readResponse(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const isHead = settings.version === 'head';
  const outer = foldObject(object, '`response`', ['response', ...responseKeys]);
  const inner = innerOf(outer, { name: 'response', key: 'content' }, isHead);
  const given = foldWithText(inner, 'content', responseKeys);
  readResponseObject(given, '`response`');
  const kept = isHead ? {} : keptOf(Json.from(payload['response'] ?? {}));
  return { replace: { response: { ...kept, ...withoutParams(given) } } };
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

/** What a `result` changes of a tool's result: the text for the model. Throws REPLY_MALFORMED where it is none. */
export function readResult(
  { settings }: HookEntry<PicoclawSettings>,
  { payload }: Question,
  object: Json,
): Changes {
  const outer = foldObject(object, '`result`', ['result', 'for_llm']);
  const place = { name: 'result', key: 'for_llm', what: ' for the model' };
  const inner = innerOf(outer, place, settings.version === 'head');
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

function noteError(given: Json | undefined, sent: Json): Note[] {
  if (given === undefined || given.text === membersOf(sent)['is_error']?.text) return [];
  return [{ level: 'warn', message: 'its change of `is_error` has no effect: the call ended as it did' }];
}

/**
 * The object that has the text `key`: the inner one of `name`, or by the page the outer one where it plainly has it.
 */
function innerOf(body: Body, { name, key, what = '' }: TextPlace, isHead: boolean): Json {
  const inner = nonNull(body.get(name));
  if (inner !== undefined && isObject(inner.value)) return inner;
  if (!isHead && typeof body.get(key)?.value === 'string') return body.json;
  throw malformed(`\`${name}\` has no \`${name}\` with a text${what}`);
}

interface TextPlace {
  readonly name: string;
  readonly key: string;
  /** For whom the text is. */
  readonly what?: string;
}
