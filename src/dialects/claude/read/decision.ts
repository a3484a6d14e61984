import { type Answer, answers } from '../../../contract/hook.ts';
import type { Json } from '../../../json/json.ts';
import { typeOf, valueAt } from '../../payload.ts';
import { block, type HookQuestion } from '../hook-question.ts';
import { outputFields } from '../points.ts';
import { type ParsedReply, uniqueMember } from '../reply-object.ts';
import { denyAs, type ReplyVerdict, verdictOfDecision } from '../reply-verdict.ts';

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
