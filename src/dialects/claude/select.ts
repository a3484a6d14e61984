import { basename } from 'node:path/posix';
import { asText } from '../../json/as-text.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import { valueAt } from '../payload.ts';
import { conditionHolds } from './condition/condition.ts';
import type { ClaudeSettings } from './config/settings.ts';
import { matches } from './matcher.ts';
import { eventRules } from './points.ts';
import { allToolNames } from './tool-names.ts';

/** Whether a handler is declared for the event, its matcher matches and its `if` holds. */
export function selects({ settings, cwd }: HookEntry<ClaudeSettings>, { point, payload }: Question): boolean {
  const { event, matcher, condition, projectDir } = settings;
  if (event !== point) return false;
  const key = eventRules[point]?.matcher;
  const value = key === undefined ? undefined : asText(valueAt(payload, key) ?? '');
  const name = point === 'FileChanged' && value !== undefined ? basename(value) : value;
  const names = name !== undefined && key === 'tool_name' ? allToolNames(name) : [name];
  if (!names.some((each) => each === undefined || matches(event, matcher, each))) return false;
  if (condition === undefined) return true;
  return conditionEvents.has(point) && conditionHolds(condition, { payload, cwd, projectDir });
}

/** The events at which a handler with `if` may run. */
const conditionEvents: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
]);
