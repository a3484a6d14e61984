import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import type { Question } from '../foreign-dialect.ts';

/**
 * The composed answer in neutral form: contexts as reminders, a result as text, a deny after a batch as
 * abort.
 */
export function toNeutralAnswer(event: HookEvent, _question: Question, answer: Answer): Answer {
  const { context, ...bare } = answer;
  const wrapped: Answer = context === undefined ? bare : { ...bare, context: context.map(toReminder) };
  switch (event.phase) {
    case 'approval':
      return wrapped.verdict === 'ask' ? allowUndecided(wrapped) : wrapped;
    case 'after_execution':
      return wrapped.verdict === 'modify' ? { ...wrapped, replace: toTextContent(wrapped.replace) } : wrapped;
    case 'batch': {
      if (wrapped.verdict !== 'deny') return wrapped;
      const { reason, ...beside } = wrapped;
      return answers.abort(reason, 'turn', beside);
    }
    default:
      return wrapped;
  }
}

/** The text in the `<system-reminder>` tags in which the model reads it. */
export function toReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

/** An ask for a person's approval that no handler decided, as an allow without a deciding hook. */
function allowUndecided({ metadata, context }: Answer): Answer {
  return answers.allow({ metadata, ...(context && { context }) });
}

function toTextContent(replace: Json): Json {
  const parts = membersOf(replace);
  const { content } = parts;
  if (content === undefined || typeof content.value === 'string') return replace;
  return Json.from({ ...parts, content: content.text });
}
