import { isObject, Json } from '../../json/json.ts';
import { elementsOf, scanMembers } from '../../json/scan.ts';
import { type Body, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import { isActionPoint } from './points.ts';

/** The actions that deny, under whatever key. */
export const denyingActions: readonly unknown[] = ['deny_tool', 'abort_turn', 'hard_abort'];

/**
 * A denial under a key or spelling that the protocol does not have, as its text; undefined when there is
 * none. An approval counts in the documented spelling only, a denial in any.
 */
export function findDenial(body: Body): string | undefined {
  for (const { key, start, end } of body.members) {
    const json = new Json(body.json.text.slice(start, end));
    if (denies(key, json)) return `${key}: ${json.text}`;
  }
  return undefined;
}

/** A denial in the results of a line, or of its parts, that is no usable reply; undefined when there is none. */
export function findDenialInLine(line: string): string | undefined {
  const json = new Json(line);
  try {
    const replies = Array.isArray(json.value) ? elementsOf(json) : [json];
    return replies.map(findInReply).find((denial) => denial !== undefined);
  } catch {
    return undefined;
  }
}

function findInReply(reply: Json): string | undefined {
  if (!isObject(reply.value)) return undefined;
  for (const { key, start, end } of scanMembers(reply.text)) {
    const result = new Json(reply.text.slice(start, end));
    const denial = key.toLowerCase() === 'result' ? findInResult(result) : undefined;
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** The same in one result, where the action is in the documented place. */
export function findInResult(result: Json): string | undefined {
  if (!isObject(result.value)) return undefined;
  const body = toBody(result);
  const action = body.members.find(
    ({ key, start, end }) =>
      key === 'action' && denyingActions.includes(new Json(result.text.slice(start, end)).value),
  );
  return action === undefined ? findDenial(body) : `action: ${result.text.slice(action.start, action.end)}`;
}

function denies(key: string, json: Json): boolean {
  switch (key.toLowerCase()) {
    case 'allow':
    case 'approved':
      return json.value === false;
    case 'verdict':
      return json.value === 'deny';
    case 'decision':
      return json.value === 'deny' || holdsDenial(json);
    case 'action':
      return key !== 'action' && denyingActions.includes(json.value);
    default:
      return false;
  }
}

function holdsDenial(json: Json): boolean {
  if (!isObject(json.value)) return false;
  return toBody(json).members.some(
    ({ key, start, end }) =>
      key.toLowerCase() === 'action' && denyingActions.includes(new Json(json.text.slice(start, end)).value),
  );
}

const unimplementedKeys = ['allow', 'args', 'decision', 'verdict', 'hook_result'];

/** A warning for keys that PicoClaw's documentation site describes and no version implements. */
export function noteUnimplementedKeys(body: Body, point: string): readonly Note[] {
  const unimplemented = body.members.find(({ key }) => unimplementedKeys.includes(key));
  const correctKey = isActionPoint(point) ? 'action' : 'approved';
  if (unimplemented === undefined || body.get(correctKey) !== undefined) return [];
  const message = `its reply has \`${unimplemented.key}\`, from a protocol on PicoClaw's documentation site that was never implemented; the right key is \`${correctKey}\``;
  return [{ level: 'warn', message }];
}
