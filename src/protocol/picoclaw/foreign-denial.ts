import { isObject, Json } from '../../json.ts';
import { type Body, toBody } from '../body.ts';
import type { Note } from '../dialect.ts';
import { isActionPoint } from './points.ts';

/** Actions that deny, wherever they stand. */
export const denials: readonly unknown[] = ['deny_tool', 'abort_turn', 'hard_abort'];

/**
 * A denial in words that are not the protocol's, as they stand there; undefined when there is none. Permission
 * counts in the documented spelling only, a denial in any.
 */
export function findDenial(body: Body): string | undefined {
  for (const { key, start, end } of body.members) {
    const json = new Json(body.json.text.slice(start, end));
    if (denies(key, json)) return `${key}: ${json.text}`;
  }
  return undefined;
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
      return key !== 'action' && denials.includes(json.value);
    default:
      return false;
  }
}

function holdsDenial(json: Json): boolean {
  if (!isObject(json.value)) return false;
  return toBody(json).members.some(
    ({ key, start, end }) =>
      key.toLowerCase() === 'action' && denials.includes(new Json(json.text.slice(start, end)).value),
  );
}

const trapKeys = ['allow', 'args', 'decision', 'verdict', 'hook_result'];

/** A warning for a reply in the words of the documentation site, which PicoClaw never spoke. */
export function noteTrap(body: Body, point: string): readonly Note[] {
  const stray = body.members.find(({ key }) => trapKeys.includes(key));
  const right = isActionPoint(point) ? 'action' : 'approved';
  if (stray === undefined || body.get(right) !== undefined) return [];
  const message = `its reply has \`${stray.key}\`, from a protocol on PicoClaw's documentation site that was never implemented; the right key is \`${right}\``;
  return [{ level: 'warn', message }];
}
