import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { isObserved, kindOf } from './events.ts';
import { isActionPoint, methodPairs } from './points.ts';

/**
 * Whether the hook is registered for the point. The hello names methods in pairs only, so one of a pair turns
 * the other on. An event that the hook's version has no form for is not sent.
 */
export function selects({ settings }: HookEntry<PicoclawSettings>, { point, payload }: Question): boolean {
  const { intercept, observe, version } = settings;
  if (isActionPoint(point)) return methodPairs[point].some((method) => intercept.includes(method));
  if (point === 'approve_tool') return intercept.includes('approve_tool');
  const kind = kindOf(payload);
  if (kind === undefined || (version === '0.2.8-doc' && kind.legacy === undefined)) return false;
  return isObserved(observe, kind);
}
