import type { SessionEvent } from '../contract/hook.ts';
import type { RunContext } from './run-context.ts';

/** What session hooks are told of a run as a whole. */
export function sessionEvent({ session }: Pick<RunContext, 'session'>): SessionEvent {
  return {
    session_id: session.id,
    conversation_id: session.id,
    messages: [],
    turn_index: session.turns,
    metadata: {},
  };
}
