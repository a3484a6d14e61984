import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type Body, toBody } from '../body.ts';
import { typeOf, valueAt } from '../payload-table.ts';
import { block, type HookQuestion } from './hook-question.ts';
import { outputFields } from './points.ts';
import {
  denyAs,
  findWrongType,
  joinVerdicts,
  type ParsedReply,
  type ReplyVerdict,
  textAt,
  uniqueMember,
  unknownVerdict,
  verdictOfDecision,
  verdictOfPermission,
} from './reply-object.ts';

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

/**
 * Reads a PermissionRequest decision. Undefined leaves it to the person, as exit code 2 and no decision do.
 */
export function readPermission(
  _asking: HookQuestion,
  { output, beside, ...answered }: ParsedReply,
): Answer | undefined {
  const given = output.specific && uniqueMember(output.specific, 'decision');
  if (given === undefined) return undefined;
  if (!isObject(given.value)) return denyAs(unknownVerdict('decision', given.text), beside);
  const decision = toBody(given);
  const behavior = uniqueMember(decision, 'behavior');
  const extras = { ...beside, metadata: withPermissions(beside.metadata, decision) };
  switch (behavior?.value) {
    case 'deny':
      return readDenial(decision, extras);
    case 'allow': {
      const isFit = answered.fault === undefined && answered.blocked === undefined;
      return isFit ? readApproval(decision, extras) : undefined;
    }
    default:
      return denyAs(unknownVerdict('behavior', behavior?.text ?? 'none'), extras);
  }
}

type Extras = ParsedReply['beside'];

function readDenial(decision: Body, extras: Extras): Answer {
  const message = textAt(decision, 'message');
  return decision.get('interrupt')?.value === true
    ? answers.abort(message, 'turn', extras)
    : answers.deny(message, extras);
}

function readApproval(decision: Body, extras: Extras): Answer {
  const args = uniqueMember(decision, 'updatedInput');
  const wrong = findWrongType(decision, { updatedInput: 'object', interrupt: 'flag' });
  if (wrong !== undefined) return answers.deny(`it ${wrong}`, extras);
  return args === undefined ? answers.allow(extras) : answers.modify({ args }, extras);
}

/** The metadata with `updatedPermissions`, which is recorded and not applied. */
function withPermissions(metadata: Json | undefined, decision: Body): Json {
  const updatedPermissions = decision.get('updatedPermissions');
  return Json.from({
    ...(metadata && membersOf(metadata)),
    ...(updatedPermissions && { updatedPermissions }),
  });
}

/** An event whose one verdict is the top-level `decision`; undefined when nothing was decided or changed. */
export function readDecision(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { beside, fault } = parsed;
  const replyVerdict = verdictOfDecision(asked.rule, parsed.output);
  const replaced = readReplacement(asked, parsed);
  if (replaced?.verdict === 'deny') return replaced;
  const blocking = blockOf(asked, parsed, replyVerdict);
  if (blocking === undefined) return fault === undefined ? replaced : undefined;
  if (replaced?.verdict !== 'modify' || fault !== undefined) return blocking;
  // The text of a block stands beside the replaced result.
  return answers.modify(replaced.replace, {
    ...beside,
    ...(blocking.context && { context: blocking.context }),
  });
}

function blockOf(
  asked: HookQuestion,
  { blocked, beside }: ParsedReply,
  replyVerdict: ReplyVerdict,
): Answer | undefined {
  const isBlock = replyVerdict.verdict === 'deny' && replyVerdict.isUnknown !== true;
  if (blocked !== undefined) {
    return block(
      asked,
      isBlock && replyVerdict.reason !== '' ? replyVerdict.reason : blocked.message,
      beside,
    );
  }
  if (isBlock) return block(asked, replyVerdict.reason, beside);
  return replyVerdict.isUnknown ? denyUnknown(asked, replyVerdict, beside) : undefined;
}

/** An unknown word denies where the event can block; elsewhere it breaks the schema. */
function denyUnknown(
  { rule, entry }: HookQuestion,
  replyVerdict: ReplyVerdict,
  beside: ParsedReply['beside'],
): Answer | undefined {
  const canBlock = rule.block !== 'none' && rule.block !== 'beside' && !entry.settings.isAsync;
  return canBlock ? denyAs(replyVerdict, beside) : undefined;
}

/** The replacement of a result or a text as an answer; undefined when there is none. */
function readReplacement(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { specific } = parsed.output;
  const { replaces = {} } = asked.rule;
  const given = Object.keys(replaces).flatMap((key): [string, Json][] => {
    const value = specific && uniqueMember(specific, key);
    return value === undefined || (key === 'retry' && value.value !== true) ? [] : [[key, value]];
  });
  const [first] = given;
  if (first === undefined || parsed.fault !== undefined) return undefined;
  const [key, value] = first;
  if (!outputFields.some((field) => field === key)) {
    return answers.modify(Object.fromEntries(given), parsed.beside);
  }
  const isFit = typeof value.value === 'string' || typeOf(value.value) === typeOf(oldResult(asked));
  if (isFit) return answers.modify({ content: value }, parsed.beside);
  const reason = `its \`${key}\` is neither a string nor of the type of the result`;
  return denyAs({ reason, isUnknown: true }, parsed.beside);
}

function oldResult({ question: { payload, point } }: HookQuestion): unknown {
  return valueAt(payload, point === 'PostToolUse' ? 'tool_response' : 'error');
}
