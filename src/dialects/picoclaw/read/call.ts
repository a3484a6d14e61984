import { isObject, Json } from '../../../json/json.ts';
import { malformed, nonNull } from '../../body.ts';
import type { HookEntry, Question } from '../../foreign-dialect.ts';
import type { Changes } from '../changes.ts';
import type { PicoclawSettings } from '../config/settings.ts';
import { foldObject, toPlainValue } from '../json-parts.ts';

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
