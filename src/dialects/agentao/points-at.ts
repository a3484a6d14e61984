import type { EventPhase, HookEvent } from '../../contract/hook.ts';
import type { PointName } from './points.ts';

/** The Agentao event for a pipeline event; none for a call of an unknown tool. */
export function pointsAt(event: HookEvent): readonly PointName[] {
  const isOfCall = event.phase === 'before_execution' || event.phase === 'after_execution';
  if (isOfCall && event.request.isUnknown === true) return [];
  if (event.phase === 'after_execution' && event.response.error !== '') return ['PostToolUseFailure'];
  const point = pointOfMoment[event.phase];
  return point === undefined ? [] : [point];
}

const pointOfMoment: Partial<Readonly<Record<EventPhase, PointName>>> = {
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  prompt: 'UserPromptSubmit',
  before_execution: 'PreToolUse',
  after_execution: 'PostToolUse',
  stop: 'Stop',
};
