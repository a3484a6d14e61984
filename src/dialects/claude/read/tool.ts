import { type Answer, answers } from '../../../contract/hook.ts';
import { isObject, Json } from '../../../json/json.ts';
import { membersOf } from '../../../json/scan.ts';
import { block, type HookQuestion } from '../hook-question.ts';
import { type ParsedReply, uniqueMember } from '../reply-object.ts';
import {
  denyAs,
  joinVerdicts,
  type ReplyVerdict,
  verdictOfDecision,
  verdictOfPermission,
} from '../reply-verdict.ts';

const words: Readonly<Record<string, readonly string[]>> = {
  PreToolUse: ['allow', 'deny', 'ask', 'defer'],
  PreSkillShellCommand: ['allow', 'deny', 'ask', 'defer'],
  PreModelSwitch: ['allow', 'deny', 'ask'],
};

/** Reads the verdict at PreToolUse, PreSkillShellCommand and PreModelSwitch. Undefined when nothing was decided or changed. */
export function readTool(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { blocked, beside, fault } = parsed;
  const replyVerdict = replyVerdictOf(asked, parsed);
  if (blocked !== undefined) {
    const hasReason =
      replyVerdict.verdict === 'deny' && replyVerdict.isUnknown !== true && replyVerdict.reason !== '';
    return block(asked, hasReason ? replyVerdict.reason : blocked.message, beside);
  }
  if (asked.question.point === 'PreSkillShellCommand') return readSkillCommand(replyVerdict, parsed);
  const args = asked.question.point === 'PreToolUse' ? inputOf(parsed) : undefined;
  const rewrite = fault === undefined && args !== undefined ? { args } : undefined;
  switch (replyVerdict.verdict) {
    case 'deny':
      return denyAs(replyVerdict, beside);
    case 'defer':
      return answers.ask(replyVerdict.reason, { metadata: withSource(asked, parsed, { deferred: true }) });
    case 'ask': {
      const replace = rewrite && { replace: Json.from(rewrite) };
      return answers.ask(replyVerdict.reason, {
        ...beside,
        ...replace,
        metadata: withSource(asked, parsed, {}),
      });
    }
    default: {
      if (fault !== undefined) return undefined;
      const extras = { ...beside, reason: replyVerdict.reason };
      return rewrite === undefined ? answers.allow(extras) : answers.modify(rewrite, extras);
    }
  }
}

/** No person can be asked about a command of a skill, and it cannot be changed: whatever is no plain allowance stops it. */
function readSkillCommand({ verdict, reason }: ReplyVerdict, parsed: ParsedReply): Answer | undefined {
  const { beside, fault } = parsed;
  if (verdict === 'deny' || verdict === 'ask' || verdict === 'defer') return answers.deny(reason, beside);
  if (inputOf(parsed) !== undefined) return answers.deny('its `updatedInput` cannot be applied here', beside);
  return fault === undefined ? answers.allow({ ...beside, reason }) : undefined;
}

function replyVerdictOf({ rule, question }: HookQuestion, { output }: ParsedReply): ReplyVerdict {
  const isTool = question.point === 'PreToolUse';
  const newer = verdictOfPermission(output.specific, words[question.point] ?? []);
  const older = verdictOfDecision(rule, output);
  const counts = isTool || question.point === 'PreSkillShellCommand' || older.verdict !== 'allow';
  const replyVerdict = joinVerdicts(newer, counts ? older : { verdict: 'none', reason: '' });
  if (!isTool || replyVerdict.verdict === 'deny' || replyVerdict.verdict === 'defer') return replyVerdict;
  const args = inputOf({ output });
  if (args === undefined || isObject(args.value)) return replyVerdict;
  return { verdict: 'deny', reason: 'its `updatedInput` is not an object', isUnknown: true };
}

function inputOf({ output: { specific } }: Pick<ParsedReply, 'output'>): Json | undefined {
  return specific && uniqueMember(specific, 'updatedInput');
}

/** The metadata with these members and the file in which the handler is declared. */
function withSource(
  { entry }: HookQuestion,
  { beside: { metadata } }: ParsedReply,
  more: Readonly<Record<string, unknown>>,
): Json {
  return Json.from({
    ...(metadata && membersOf(metadata)),
    ...more,
    ...(entry.source !== undefined && { source: entry.source }),
  });
}
