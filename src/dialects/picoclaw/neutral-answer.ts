import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import type { Question } from '../foreign-dialect.ts';
import { toNeutralMessage } from './neutral-message.ts';
import type { NeutralReplacement } from './neutral-replacement.ts';
import { toNeutralRequest } from './neutral-request.ts';

/**
 * The composed answer in neutral form: `replace` has the members of the event's phase. Throws
 * REPLY_MALFORMED.
 */
export function toNeutralAnswer(event: HookEvent, _question: Question, answer: Answer): Answer {
  if (answer.verdict !== 'modify') return answer;
  const { replace, droppedFiles } = toNeutralReplace(event, answer.replace);
  const { reason, context = [] } = answer;
  const metadata = withDroppedFiles(answer.metadata, droppedFiles);
  if (Object.keys(replace).length === 0) return answers.allow({ reason, metadata, context });
  return answers.modify(replace, { reason, metadata, context });
}

function toNeutralReplace(event: HookEvent, replace: Json): NeutralReplacement {
  const parts = membersOf(replace);
  switch (event.phase) {
    case 'before_call':
      return toNeutralRequest(event.request, parts);
    case 'after_call':
      return toNeutralMessage(event.response.message, parts['response'] ?? new Json('{}'));
    default:
      return { replace: parts, droppedFiles: 0 };
  }
}

function withDroppedFiles(metadata: Json, droppedFiles: number): Json {
  if (droppedFiles === 0) return metadata;
  const members = membersOf(metadata);
  const own = membersOf(members['picoclaw'] ?? new Json('{}'));
  return Json.from({ ...members, picoclaw: { ...own, dropped_files: droppedFiles } });
}
