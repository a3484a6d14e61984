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
  const denial = eachMember(body.json).find(({ key, json }) => denies(key, json));
  return denial && `${denial.key}: ${denial.json.text}`;
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
  const results = eachMember(reply).filter(({ key }) => key.toLowerCase() === 'result');
  return results.map(({ json }) => findInResult(json)).find((denial) => denial !== undefined);
}

/** The same in one result, where the action is in the documented place. */
export function findInResult(result: Json): string | undefined {
  if (!isObject(result.value)) return undefined;
  const action = eachMember(result).find(
    ({ key, json }) => key === 'action' && denyingActions.includes(json.value),
  );
  return action === undefined ? findDenial(toBody(result)) : `action: ${action.json.text}`;
}

/** The members of an object with their texts, duplicates included; none of any other value. */
function eachMember(object: Json): { readonly key: string; readonly json: Json }[] {
  if (!isObject(object.value)) return [];
  return scanMembers(object.text).map(({ key, start, end }) => ({
    key,
    json: new Json(object.text.slice(start, end)),
  }));
}

function denies(key: string, json: Json): boolean {
  switch (key.toLowerCase()) {
    case 'allow':
    case 'approved':
      return json.value === false;
    case 'verdict':
      return json.value === 'deny';
    case 'decision':
      return (
        json.value === 'deny' ||
        eachMember(json).some(
          (inner) => inner.key.toLowerCase() === 'action' && denyingActions.includes(inner.json.value),
        )
      );
    case 'action':
      return key !== 'action' && denyingActions.includes(json.value);
    default:
      return false;
  }
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
