import { type Answer, answers } from '../../../contract/hook.ts';
import type { Json } from '../../../json/json.ts';
import type { Answered } from '../answered.ts';
import { type Asking, block } from '../asking.ts';
import { only } from '../output.ts';
import { outputFields } from '../points.ts';
import { type Ruling, ruleByDecision } from '../ruling.ts';
import { valueAt } from '../tree.ts';

/** An event whose one verdict is the top-level `decision`; undefined when nothing was decided or changed. */
export function readPlain(asking: Asking, answered: Answered): Answer | undefined {
  const { beside, misfit } = answered;
  const ruling = ruleByDecision(asking.rule, answered.output);
  const replaced = readReplacement(asking, answered);
  if (replaced?.verdict === 'deny') return replaced;
  const stopped = stopOf(asking, answered, ruling);
  if (stopped === undefined) return misfit === undefined ? replaced : undefined;
  if (replaced?.verdict !== 'modify' || misfit !== undefined) return stopped;
  // The text of a block stands beside the replaced result.
  return answers.modify(replaced.replace, {
    ...beside,
    ...(stopped.context && { context: stopped.context }),
  });
}

function stopOf(asking: Asking, { blocked, beside, misfit }: Answered, ruling: Ruling): Answer | undefined {
  const isBlock = ruling.verdict === 'deny' && ruling.isUnknown !== true;
  const isBare = asking.rule.block === 'follow_up' && ruling.reason.trim() === '';
  if (blocked !== undefined) {
    return block(asking, isBlock && ruling.reason !== '' ? ruling.reason : blocked.message, beside);
  }
  if (isBlock) return isBare && misfit !== undefined ? undefined : block(asking, ruling.reason, beside);
  return ruling.isUnknown ? denyUnknown(asking, ruling, beside) : undefined;
}

/** An unknown word denies where the event can block; elsewhere it breaks the schema. */
function denyUnknown(
  { rule, seat }: Asking,
  { reason }: Ruling,
  beside: Answered['beside'],
): Answer | undefined {
  const canBlock = rule.block !== 'none' && rule.block !== 'beside' && !seat.settings.isAsync;
  return canBlock ? answers.deny(reason, beside) : undefined;
}

/** What stands in the place of a result or a text; undefined when nothing does. */
function readReplacement(asking: Asking, answered: Answered): Answer | undefined {
  const { specific } = answered.output;
  const { replaces = {} } = asking.rule;
  const given = Object.keys(replaces).flatMap((key): [string, Json][] => {
    const value = specific && only(specific, key);
    return value === undefined || (key === 'retry' && value.value !== true) ? [] : [[key, value]];
  });
  const [first] = given;
  if (first === undefined || answered.misfit !== undefined) return undefined;
  const [key, value] = first;
  if (!outputFields.some((field) => field === key)) {
    return answers.modify(Object.fromEntries(given), answered.beside);
  }
  const isFit = typeof value.value === 'string' || kindOf(value.value) === kindOf(oldResult(asking));
  if (isFit) return answers.modify({ content: value }, answered.beside);
  return answers.deny(`its \`${key}\` is neither a string nor of the type of the result`, answered.beside);
}

function oldResult({ question: { payload, point } }: Asking): unknown {
  return valueAt(payload, point === 'PostToolUse' ? 'tool_response' : 'error');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}
