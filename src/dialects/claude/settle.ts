import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import type { Question } from '../foreign.ts';

/** The composed answer for a pipeline: texts as reminders, a new result as text, at the end of a batch only an end. */
export function settle(event: HookEvent, _question: Question, answer: Answer): Answer {
  const { context, ...bare } = answer;
  const said: Answer = context === undefined ? bare : { ...bare, context: context.map(toReminder) };
  switch (event.phase) {
    case 'approval':
      return said.verdict === 'ask' ? leaveAsked(said) : said;
    case 'after_execution':
      return said.verdict === 'modify' ? { ...said, replace: toContent(said.replace) } : said;
    case 'batch': {
      if (said.verdict !== 'deny') return said;
      const { reason, ...beside } = said;
      return answers.abort(reason, 'turn', beside);
    }
    default:
      return said;
  }
}

/** A text for the model that is no word of a person's. */
export function toReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

/** Nobody answered in the person's place: an allow by nobody, so that other hooks are heard too. */
function leaveAsked({ metadata, context }: Answer): Answer {
  return answers.allow({ metadata, ...(context && { context }) });
}

function toContent(replace: Json): Json {
  const parts = partsOf(replace);
  const { content } = parts;
  if (content === undefined || typeof content.value === 'string') return replace;
  return Json.from({ ...parts, content: content.text });
}
