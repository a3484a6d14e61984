import { isObject, Json } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import type { Composed, HookAnswer } from '../compose.ts';
import type { Question } from '../foreign-dialect.ts';
import { describePermission } from './permission.ts';
import { requirePoint } from './points.ts';

/**
 * Adjusts the composed answer where members cannot be merged one by one: aborts, permissions, fuel, tools,
 * cache.
 */
export function conclude(
  question: Question,
  hookAnswers: readonly HookAnswer[],
  composed: Composed,
): Composed {
  const { family } = requirePoint(question.point);
  // A plugin that could not be run aborts the event, and the answers of the others are dropped.
  const failed = hookAnswers.find(({ answer }) => answer.verdict === 'abort');
  if (failed !== undefined)
    return { hook: failed.hook, answer: family === 'spawn' ? toDenial(failed.answer) : failed.answer };
  if (family === 'permission') return askUnlessDenied(question, hookAnswers, composed);
  const { answer } = composed;
  if (answer.verdict !== 'modify') return composed;
  const replace = adjustReplace(question, hookAnswers, answer.replace);
  if (replace.text !== '{}') return { ...composed, answer: { ...answer, replace } };
  const { verdict: _verdict, replace: _nothing, ...beside } = answer;
  return { hook: null, answer: answers.allow(beside) };
}

/** The abort as a denial: a sub-agent that cannot be guarded is a failed tool, not the end of the turn. */
function toDenial(answer: Answer): Answer {
  const { reason, metadata } = answer;
  const fault = answer.verdict === 'abort' && answer.error ? { error: answer.error } : {};
  return answers.deny(reason, { metadata, ...fault });
}

/** Plugins can deny, never approve: what none of them denied is for the host to decide. */
function askUnlessDenied(
  { payload }: Question,
  [first]: readonly HookAnswer[],
  composed: Composed,
): Composed {
  if (first === undefined || composed.answer.verdict === 'deny') return composed;
  const { metadata } = composed.answer;
  return { hook: first.hook, answer: answers.ask(describePermission(payload), { metadata }) };
}

function adjustReplace(
  { point, payload }: Question,
  hookAnswers: readonly HookAnswer[],
  replace: Json,
): Json {
  switch (point) {
    case 'pre_api_tools':
      return Json.from({ tools: replace });
    case 'pre_cache_output':
      return isObject(replace.value) && replace.value['cache'] === false
        ? Json.from({ cache: false })
        : replace;
    case 'pre_agentic_loop':
    case 'post_tool_batch': {
      const fallback = memberOf(replace.text, scanMembers(replace.text), 'fallback');
      const remaining = toInteger(Json.from(payload['fuel_remaining'] ?? null));
      return Json.from({
        ...(fallback && { fallback }),
        // Without a limit there is no fuel to change.
        ...(remaining !== undefined && composeFuel(hookAnswers, remaining)),
      });
    }
    default:
      return replace;
  }
}

/** The change of the fuel: the new level where a plugin set one, else the sum of the differences. */
interface FuelChange {
  readonly fuel?: bigint;
  readonly fuel_delta?: bigint;
}

/**
 * Plugin by plugin, in each of them `fuel` before `fuel_delta`, never below 0. Source: apply_hook_overrides in
 * api/send.rs.
 */
function composeFuel(hookAnswers: readonly HookAnswer[], start: bigint): FuelChange {
  let level = start;
  let isSet = false;
  let isMoved = false;
  for (const { answer } of hookAnswers) {
    if (answer.verdict !== 'modify') continue;
    const { text } = answer.replace;
    const members = scanMembers(text);
    const fuel = toInteger(memberOf(text, members, 'fuel'));
    const delta = toInteger(memberOf(text, members, 'fuel_delta'));
    if (fuel !== undefined) {
      level = fuel;
      isSet = true;
    }
    if (delta === undefined) continue;
    level = clamp(level + delta);
    isMoved = true;
  }
  if (isSet) return { fuel: level };
  return isMoved ? { fuel_delta: level - start } : {};
}

function clamp(level: bigint): bigint {
  if (level < 0n) return 0n;
  return level > MAX_FUEL ? MAX_FUEL : level;
}

/** chibi counts in 64 bits. */
const MAX_FUEL = 2n ** 64n - 1n;

function toInteger(json: Json | undefined): bigint | undefined {
  return json !== undefined && /^-?\d+$/.test(json.text) ? BigInt(json.text) : undefined;
}
