import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import type { Question } from '../foreign.ts';
import { settleMessage } from './settle-message.ts';
import { settleRequest } from './settle-request.ts';
import type { Settled } from './settled.ts';

/** The composed answer in the words of the event's phase. Throws REPLY_MALFORMED. */
export function settle(event: HookEvent, _question: Question, answer: Answer): Answer {
  if (answer.verdict !== 'modify') return answer;
  const { replace, droppedFiles } = settleReplace(event, answer.replace);
  const { reason, context = [] } = answer;
  const metadata = withDropped(answer.metadata, droppedFiles);
  if (Object.keys(replace).length === 0) return answers.allow({ reason, metadata, context });
  return answers.modify(replace, { reason, metadata, context });
}

function settleReplace(event: HookEvent, replace: Json): Settled {
  const parts = partsOf(replace);
  switch (event.phase) {
    case 'before_call':
      return settleRequest(event.request, parts);
    case 'after_call':
      return settleMessage(event.response.message, parts['response'] ?? new Json('{}'));
    default:
      return { replace: parts, droppedFiles: 0 };
  }
}

function withDropped(metadata: Json, droppedFiles: number): Json {
  if (droppedFiles === 0) return metadata;
  const members = partsOf(metadata);
  const own = partsOf(members['picoclaw'] ?? new Json('{}'));
  return Json.from({ ...members, picoclaw: { ...own, dropped_files: droppedFiles } });
}
