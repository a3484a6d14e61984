import { type Answer, answers } from '../../../contract/hook.ts';
import { block, type HookQuestion } from '../hook-question.ts';
import type { ParsedReply } from '../parsed-reply.ts';
import { uniqueMember } from '../reply-object.ts';
import { unknownVerdict } from '../reply-verdict.ts';

/** Reads `action` and `content` at the Elicitation events; undefined when the handler decides nothing. */
export function readElicitation(asked: HookQuestion, parsed: ParsedReply): Answer | undefined {
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
      return answers.deny(unknownVerdict('action', action.text).reason, beside);
  }
}
