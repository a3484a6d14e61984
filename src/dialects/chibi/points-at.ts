import type { HookEvent } from '../../contract/hook.ts';
import { permissionFor } from './permission.ts';
import type { PointName } from './points.ts';

/** The points that an event of a pipeline reaches, in chibi's order of a turn. */
export function pointsAt(event: HookEvent): readonly PointName[] {
  switch (event.phase) {
    case 'session_start':
      return ['on_start'];
    case 'session_end':
      return ['on_end'];
    case 'prompt':
      return ['pre_message'];
    case 'system_prompt':
      return ['pre_system_prompt', 'post_system_prompt'];
    case 'tool_list':
      return ['pre_api_tools'];
    case 'request':
      return ['pre_api_request'];
    case 'loop':
      return ['pre_agentic_loop'];
    case 'before_execution':
      return ['pre_tool'];
    case 'approval': {
      // What a hook asks is for a person to answer, not for those who must approve.
      const permission = event.asked === null ? permissionFor(event.request) : undefined;
      return permission === undefined ? [] : [permission.point];
    }
    case 'after_execution':
    case 'blocked':
      return ['pre_tool_output'];
    case 'finished':
      return ['post_tool_output'];
    case 'returned':
      return event.isFlow ? [] : ['post_tool'];
    case 'batch':
      return ['post_tool_batch'];
    case 'answered':
      return ['post_message'];
    default:
      return [];
  }
}
