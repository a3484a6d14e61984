import type { AgentaoSettings } from '../../config/foreign.ts';
import type { Answer } from '../../contract/hook.ts';
import type { Question, Seat } from '../foreign.ts';
import { addContext } from './read/prompt.ts';
import { dataOf, textAt } from './tree.ts';

/** A prompt rule's text with the person's message in it; undefined for a rule that is a process. */
export function answerOf(seat: Seat<AgentaoSettings>, question: Question): Answer | undefined {
  const { prompt } = seat.settings;
  if (prompt === undefined) return undefined;
  const message = textAt(dataOf(question.payload), 'userMessage') ?? '';
  const text = prompt.replaceAll('{userMessage}', () => message);
  return addContext({ seat, question }, text, 'prompt_hook');
}
