import { basename } from 'node:path/posix';
import type { ClaudeSettings } from '../../config/foreign.ts';
import type { Question, Seat } from '../foreign.ts';
import { holds } from './condition/condition.ts';
import { matches } from './matcher.ts';
import { eventRules } from './points.ts';
import { valueAt } from './tree.ts';

/** Whether a handler is declared for the event, its matcher matches and its `if` holds. */
export function selects({ settings, cwd }: Seat<ClaudeSettings>, { point, payload }: Question): boolean {
  const { event, matcher, condition, projectDir } = settings;
  if (event !== point) return false;
  const key = eventRules[point]?.matcher;
  const value = key === undefined ? undefined : String(valueAt(payload, key) ?? '');
  const name = point === 'FileChanged' && value !== undefined ? basename(value) : value;
  if (name !== undefined && !matches(event, matcher, name)) return false;
  if (condition === undefined) return true;
  return conditionEvents.has(point) && holds(condition, { payload, cwd, projectDir });
}

/** Elsewhere a handler with `if` never runs. */
const conditionEvents: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
]);
