import { type Answer, answers } from '../../../contract/hook.ts';
import type { Answered } from '../answered.ts';
import { type Asking, block } from '../asking.ts';
import { only } from '../output.ts';
import { unknown } from '../ruling.ts';

/** An answer in the place of a person, or a changed one. Undefined when the handler gives none. */
export function readElicitation(asking: Asking, answered: Answered): Answer | undefined {
  const { output, blocked, misfit, beside } = answered;
  if (blocked !== undefined) return block(asking, blocked.message, beside);
  const action = output.specific && only(output.specific, 'action');
  if (action === undefined) return undefined;
  const content = output.specific?.get('content');
  switch (action.value) {
    case 'decline':
    case 'cancel':
    case 'accept': {
      if (action.value === 'accept' && misfit !== undefined) return undefined;
      const given = content === undefined || misfit !== undefined ? {} : { content };
      return answers.respond({ action: action.value, ...given }, beside);
    }
    default:
      return answers.deny(unknown('action', action.text).reason, beside);
  }
}
