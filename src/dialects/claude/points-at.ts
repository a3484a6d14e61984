import type { HookEvent } from '../../contract/hook.ts';

/** The points that an event of a pipeline reaches. */
export function pointsAt(event: HookEvent): readonly string[] {
  switch (event.phase) {
    case 'approval':
      return event.asked === null ? [] : ['PermissionRequest'];
    case 'after_execution':
      return [event.response.error === '' ? 'PostToolUse' : 'PostToolUseFailure'];
    case 'stop':
      return event.end === 'final_response' ? ['Stop'] : [];
    default: {
      const point = pointOf[event.phase];
      return point === undefined ? [] : [point];
    }
  }
}

const pointOf: Partial<Record<HookEvent['phase'], string>> = {
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  prompt: 'UserPromptSubmit',
  before_execution: 'PreToolUse',
  batch: 'PostToolBatch',
  error: 'StopFailure',
  pending: 'Notification',
};
