import { isTextTooDeep } from '../../json/depth.ts';
import { findDuplicateKey } from '../../json/duplicate-key.ts';
import { isObject, Json } from '../../json/json.ts';
import { tryJson } from '../../json/try-parse.ts';

/**
 * Arguments as a model wrote them, for hooks: the exact JSON when they are one JSON object that every reader reads alike, else the
 * text as a JSON string.
 */
export function argsOfText(text: string): Json {
  const json = isTextTooDeep(text) ? undefined : tryJson(text.trim());
  if (json === undefined || !isObject(json.value) || findDuplicateKey(json.text) !== undefined)
    return Json.from(text);
  return json;
}

/** The text of arguments that a hook gave back: that of a string, else their JSON. */
export function textOfArgs(args: unknown): string {
  const json = Json.from(args);
  return typeof json.value === 'string' ? json.value : json.text;
}
