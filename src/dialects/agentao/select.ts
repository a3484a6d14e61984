import type { Answer } from '../../contract/hook.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { textAt } from '../payload.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { dataOf } from './envelope.ts';
import { matches } from './matcher.ts';
import { addContext } from './read/prompt.ts';

/** Whether a rule is one of the event and its matcher fits. */
export function selects({ settings }: HookEntry<AgentaoSettings>, { point, payload }: Question): boolean {
  return settings.event === point && matches(point, settings.matcher, namesIn(point, payload));
}

function namesIn(point: string, payload: Question['payload']): readonly string[] {
  if (point === 'PreCompact') return [textAt(payload, 'trigger') ?? ''];
  const { names } = payload;
  return Array.isArray(names) ? names.map(String) : [];
}

/** The answer of a prompt rule: its text with the user's message filled in; undefined for a command rule. */
export function staticAnswerOf(entry: HookEntry<AgentaoSettings>, question: Question): Answer | undefined {
  const { prompt } = entry.settings;
  if (prompt === undefined) return undefined;
  const message = textAt(dataOf(question.payload), 'userMessage') ?? '';
  const text = prompt.replaceAll('{userMessage}', () => message);
  return addContext({ entry, question }, text, 'prompt_hook');
}
