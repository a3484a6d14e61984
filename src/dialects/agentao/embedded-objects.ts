import { isObject, Json } from '../../json/json.ts';
import { endOfValue, scanElements } from '../../json/scan.ts';
import { type Body, toBody } from '../body.ts';
import type { ProcessOutput } from './process-output.ts';
import { fromPythonJson } from './python/loads.ts';

/**
 * What may be an answer in a stdout that is not one JSON object: whole lines of text that are one, and attachment
 * records in a list.
 */
export function findEmbeddedObjects({ text, json }: ProcessOutput): Body[] {
  if (json === undefined) return objectsInText(text);
  if (!Array.isArray(json.value)) return [];
  return scanElements(json.text)
    .map(({ start, end }) => new Json(json.text.slice(start, end)))
    .filter(({ value }) => isObject(value) && Object.hasOwn(value, 'attachment_type'))
    .map((each) => toBody(each));
}

/** The most searches for an object over several lines; each may scan the whole text. */
const MAX_SEARCHES = 100;

function objectsInText(text: string): Body[] {
  const found: Body[] = [];
  let searches = 0;
  let at = 0;
  while (at < text.length) {
    const start = at + (/^\s*/.exec(lineAt(text, at))?.[0].length ?? 0);
    const line = lineAt(text, at);
    at += line.length + 1;
    if (!text.startsWith('{', start)) continue;
    const body = parseObject(line);
    if (body !== undefined) {
      found.push(body);
      continue;
    }
    searches += 1;
    const end = searches > MAX_SEARCHES ? start : endOfValue(text, start);
    const longer =
      end < at || lineAt(text, end).trim() !== '' ? undefined : parseObject(text.slice(start, end));
    if (longer === undefined) continue;
    found.push(longer);
    at = end + lineAt(text, end).length + 1;
  }
  return found;
}

function lineAt(text: string, from: number): string {
  const end = text.indexOf('\n', from);
  return text.slice(from, end === -1 ? text.length : end);
}

function parseObject(text: string): Body | undefined {
  const json = new Json(fromPythonJson(text.trim()));
  try {
    return isObject(json.value) ? toBody(json) : undefined;
  } catch {
    return undefined;
  }
}
