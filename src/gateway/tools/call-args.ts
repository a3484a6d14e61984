import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import type { CallableTool } from '../../calls/tool-call/callable-tool.ts';
import { readArgs, readCheckedArgs } from '../../calls/tool-call/tool-args.ts';

/**
 * The arguments of a call as hooks read them: the object, or the free text of a custom tool as `{"input": text}`. Throws
 * ARGS_INVALID for a text that is no object though it begins as one, which two readers could read differently.
 */
export function argsForHooks(name: string, args: Json): Json {
  const { value } = args;
  if (typeof value !== 'string') return readArgs(name, args.text);
  const text = value.trim();
  return text === '' || text.startsWith('{') ? readArgs(name, text) : Json.from({ input: value });
}

/** The same, of arguments that fit the tool's schema. Throws ARGS_INVALID. */
export function checkedArgsForHooks(tool: CallableTool, args: Json): Json {
  return readCheckedArgs(tool, argsForHooks(tool.name, args).text);
}

/** What stands in the answer for arguments that hooks or people have changed. Throws ARGS_INVALID where nothing can. */
export function argsForClient(name: string, original: Json, changed: Json): Json {
  const { value } = original;
  if (typeof value !== 'string' || value.trim() === '') return changed;
  const given = changed.value;
  const { input } = isObject(given) ? given : {};
  if (isObject(given) && Object.keys(given).length === 1 && typeof input === 'string')
    return Json.from(input);
  throw new RuntimeError(
    'ARGS_INVALID',
    `tool "${name}": its input is a text, and can only be changed as \`input\``,
  );
}
