import { type RuntimeError, toFault } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { elementsOf, scanMembers } from '../../base/json/scan.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type Body, excerpt, toBody } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import { failOpen } from '../failed-open.ts';
import type { HookEntry } from '../foreign-dialect.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { isActionPoint } from './points.ts';

export type FailureCause = 'timeout' | 'rpc_error' | 'dead' | 'bad_result' | 'unknown_action' | 'no_action';

interface HookFailure {
  readonly cause: FailureCause;
  /** The failure, as the end of a sentence. A text that quotes the hook comes with an `error`. */
  readonly what: string;
  readonly error?: RuntimeError | undefined;
  readonly notes?: readonly Note[] | undefined;
  readonly answer?: Answer | undefined;
}

/**
 * An approver's failure denies; any other passes unless `on_failure: deny`. For a method that only its pair turned on,
 * a timeout or an error means that the hook does not implement it. PicoClaw's hook manager then continues.
 */
export function decodeFailure(
  entry: HookEntry<PicoclawSettings>,
  point: string,
  failure: HookFailure,
): Decoded<Answer> {
  const { cause, what, error, notes = [], answer } = failure;
  if (!isActionPoint(point)) return denyFailure(entry, what, { error, notes });
  const isOnlyPaired = !entry.settings.intercept.includes(point);
  if (isOnlyPaired && (cause === 'timeout' || cause === 'rpc_error')) {
    const message = `it ${what}: it does not implement ${point}, which only its pair turned on`;
    const metadata = Json.from({ picoclaw: { not_implemented: point } });
    return decoded({ ...answers.allow({ metadata }), isUnsubscribed: true }, [
      ...notes,
      { level: 'debug', message },
    ]);
  }
  const rule = { cause: `picoclaw.${cause}`, what, error };
  return failOpen(entry, rule, answer === undefined ? { notes } : { notes, answer });
}

export function denyFailure(
  { name }: Pick<HookEntry<unknown>, 'name'>,
  what: string,
  { error, notes = [] }: Pick<HookFailure, 'error' | 'notes'> = {},
): Decoded<Answer> {
  const fault = error === undefined ? {} : { error: toFault(error) };
  return decoded(answers.deny(`hook "${name}" ${what}`, fault), notes);
}

/** A denial in a form outside the protocol still counts. `denial` contains only the words of a verdict. */
export function denyAsWritten(
  { name }: Pick<HookEntry<unknown>, 'name'>,
  denial: string,
  notes: readonly Note[] = [],
): Decoded<Answer> {
  return decoded(answers.deny(`hook "${name}" denied with ${excerpt(denial)}`), notes);
}

export const denyingActions: readonly unknown[] = ['deny_tool', 'abort_turn', 'hard_abort'];

/**
 * The text of a denial under a key or spelling outside the protocol. Undefined if there is none. An approval counts
 * only in the documented spelling, a denial in any.
 */
export function findDenial(body: Body): string | undefined {
  const denial = eachMember(body.json).find(({ key, json }) => denies(key, json));
  return denial && `${denial.key}: ${denial.json.text}`;
}

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

export function findInResult(result: Json): string | undefined {
  if (!isObject(result.value)) return undefined;
  const action = eachMember(result).find(
    ({ key, json }) => key === 'action' && denyingActions.includes(json.value),
  );
  return action === undefined ? findDenial(toBody(result)) : `action: ${action.json.text}`;
}

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

/** Warns about keys that PicoClaw's documentation site describes and no version implements. */
export function noteUnimplementedKeys(body: Body, point: string): readonly Note[] {
  const unimplemented = body.members.find(({ key }) => unimplementedKeys.includes(key));
  const correctKey = isActionPoint(point) ? 'action' : 'approved';
  if (unimplemented === undefined || body.get(correctKey) !== undefined) return [];
  const message = `its reply has \`${unimplemented.key}\`, from a protocol on PicoClaw's documentation site that was never implemented; the right key is \`${correctKey}\``;
  return [{ level: 'warn', message }];
}
