import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, Json } from '../../../json/json.ts';
import { partsOf } from '../../../json/scan.ts';
import type { Answered } from '../answered.ts';
import { type Asking, block } from '../asking.ts';
import { only } from '../output.ts';
import { join, type Ruling, ruleByDecision, ruleByPermission } from '../ruling.ts';

const words = {
  PreToolUse: ['allow', 'deny', 'ask', 'defer'],
  PreModelSwitch: ['allow', 'deny', 'ask'],
} as const;

/** Whether a tool runs, or a model takes over. Undefined when nothing was decided or changed. */
export function readTool(asking: Asking, answered: Answered): Answer | undefined {
  const { blocked, beside, misfit } = answered;
  const ruling = rulingOf(asking, answered);
  if (blocked !== undefined) {
    const hasReason = ruling.verdict === 'deny' && ruling.isUnknown !== true && ruling.reason !== '';
    return block(asking, hasReason ? ruling.reason : blocked.message, beside);
  }
  const args = asking.question.point === 'PreToolUse' ? inputOf(answered) : undefined;
  const rewrite = misfit === undefined && args !== undefined ? { args } : undefined;
  switch (ruling.verdict) {
    case 'deny':
      return answers.deny(ruling.reason, beside);
    case 'defer':
      return answers.ask(ruling.reason, { metadata: labelled(asking, answered, { deferred: true }) });
    case 'ask': {
      const replace = rewrite && { replace: Json.from(rewrite) };
      return answers.ask(ruling.reason, { ...beside, ...replace, metadata: labelled(asking, answered, {}) });
    }
    default: {
      if (misfit !== undefined) return undefined;
      const said = { ...beside, reason: ruling.reason };
      return rewrite === undefined ? answers.allow(said) : answers.modify(rewrite, said);
    }
  }
}

function rulingOf({ rule, question }: Asking, { output }: Answered): Ruling {
  const isTool = question.point === 'PreToolUse';
  const newer = ruleByPermission(output.specific, isTool ? words.PreToolUse : words.PreModelSwitch);
  const older = ruleByDecision(rule, output);
  const isWord = isTool || older.verdict !== 'allow';
  const ruling = join(newer, isWord ? older : { verdict: 'none', reason: '' });
  if (!isTool || ruling.verdict === 'deny' || ruling.verdict === 'defer') return ruling;
  const args = inputOf({ output });
  if (args === undefined || isObject(args.value)) return ruling;
  return { verdict: 'deny', reason: 'its `updatedInput` is not an object', isUnknown: true };
}

function inputOf({ output: { specific } }: Pick<Answered, 'output'>): Json | undefined {
  return specific && only(specific, 'updatedInput');
}

/** A question says which file it comes from. */
function labelled(
  { seat }: Asking,
  { beside: { metadata } }: Answered,
  more: Readonly<Record<string, unknown>>,
): Json {
  return Json.from({
    ...(metadata && partsOf(metadata)),
    ...more,
    ...(seat.source !== undefined && { source: seat.source }),
  });
}
