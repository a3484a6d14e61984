import type { EventPhase, HookEvent } from '../../contract/hook.ts';
import { permissionFor } from './permission.ts';
import type { PointName } from './points.ts';

const pointsOf: Readonly<Partial<Record<EventPhase, readonly PointName[]>>> = {
  session_start: ['on_start'],
  session_end: ['on_end'],
  prompt: ['pre_message'],
  system_prompt: ['pre_system_prompt', 'post_system_prompt'],
  tool_list: ['pre_api_tools'],
  request: ['pre_api_request'],
  loop: ['pre_agentic_loop'],
  before_execution: ['pre_tool'],
  after_execution: ['pre_tool_output'],
  blocked: ['pre_tool_output'],
  finished: ['post_tool_output'],
  returned: ['post_tool'],
  batch: ['post_tool_batch'],
  answered: ['post_message'],
};

/** The points that an event of a pipeline reaches, in chibi's order of a turn. */
export function pointsAt(event: HookEvent): readonly PointName[] {
  if (event.phase === 'approval') {
    // What a hook asks is for a person to answer, not for those who must approve.
    const permission = event.asked === null ? permissionFor(event.request) : undefined;
    return permission === undefined ? [] : [permission.point];
  }
  return event.phase === 'returned' && event.isFlow ? [] : (pointsOf[event.phase] ?? []);
}
