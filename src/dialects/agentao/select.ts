import type { AgentaoSettings } from '../../config/foreign.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { textAt } from '../payload.ts';
import { matches } from './matcher.ts';

/** Whether a rule is one of the event and its matcher fits. */
export function selects({ settings }: HookEntry<AgentaoSettings>, { point, payload }: Question): boolean {
  return settings.event === point && matches(point, settings.matcher, namesIn(point, payload));
}

function namesIn(point: string, payload: Question['payload']): readonly string[] {
  if (point === 'PreCompact') return [textAt(payload, 'trigger') ?? ''];
  const { names } = payload;
  return Array.isArray(names) ? names.map(String) : [];
}
