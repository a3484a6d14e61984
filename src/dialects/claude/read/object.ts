import { type Answer, answers } from '../../../contract/hook.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import { block, type HookQuestion, letPass, noDecision } from '../hook-question.ts';
import {
  type Blocked,
  extrasOf,
  noteExit2,
  type ParsedReply,
  type ReplyObject,
  textAt,
  uniqueMember,
} from '../reply-object.ts';
import { findReplyFault, noteMisplacedDecision } from '../reply-schema.ts';
import { denyAs, unknownVerdict } from '../reply-verdict.ts';
import { readDecision } from './decision.ts';
import { readPermission } from './permission.ts';
import { readTool } from './tool.ts';

/** Decodes a JSON reply, which counts whatever the exit code. */
export function readObject(
  asked: HookQuestion,
  output: ReplyObject,
  blocked: Blocked | undefined,
): Decoded<Answer> {
  const { rule, question } = asked;
  const fault = findReplyFault(question.point, rule, output);
  const { beside, notes: extraNotes } =
    fault === undefined ? extrasOf(asked, output) : { beside: {}, notes: [] };
  const parsed = { output, blocked, fault, beside };
  const notes: Note[] = [...extraNotes, ...noteExit2(rule, blocked)];
  const answer = readHalt(asked, parsed) ?? readVerdict(asked, parsed);
  if (answer === undefined && fault !== undefined) {
    return letPass(asked, { cause: 'claude.bad_schema', what: fault });
  }
  if (fault !== undefined) notes.push({ level: 'warn', message: `it ${fault}; only what stops counts` });
  const finalAnswer = answer ?? noDecision(asked, beside);
  return decoded(finalAnswer, [...notes, ...noteMisplacedDecision(asked, output, finalAnswer)]);
}

/** `continue: false` ends the turn and beats every decision. */
function readHalt({ rule, entry }: HookQuestion, { output, beside }: ParsedReply): Answer | undefined {
  if (rule.ignoresContinue || rule.isObserveOnly || entry.settings.isAsync) return undefined;
  const isHalt = output.body.members.some(
    ({ key, start, end }) => key === 'continue' && output.body.json.text.slice(start, end) === 'false',
  );
  return isHalt ? answers.abort(textAt(output.body, 'stopReason'), 'turn', beside) : undefined;
}

/** The verdict by the rule of the event; undefined when the reply decides nothing. */
function readVerdict(asked: HookQuestion, answered: ParsedReply): Answer | undefined {
  switch (asked.rule.verdict) {
    case 'permissionDecision':
      return readTool(asked, answered);
    case 'decision':
      return readPermission(asked, answered);
    case 'action':
      return readElicitation(asked, answered);
    default:
      return readDecision(asked, answered);
  }
}

/** Reads `action` and `content` at the Elicitation events; undefined when the handler decides nothing. */
function readElicitation(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
  const { output, blocked, fault, beside } = parsed;
  if (blocked !== undefined) return block(asked, blocked.message, beside);
  const action = output.specific && uniqueMember(output.specific, 'action');
  if (action === undefined) return undefined;
  const content = output.specific?.get('content');
  switch (action.value) {
    case 'decline':
    case 'cancel':
    case 'accept': {
      if (action.value === 'accept' && fault !== undefined) return undefined;
      const given = content === undefined || fault !== undefined ? {} : { content };
      return answers.respond({ action: action.value, ...given }, beside);
    }
    default:
      return denyAs(unknownVerdict('action', action.text), beside);
  }
}
