import type { SessionEvent } from '../../contract/hook.ts';
import { createHookContext, type HookContext } from '../../contract/turn.ts';
import type { RunContext } from './run-context.ts';

/** The event for the session hooks of a run. */
export function sessionEvent({ session }: Pick<RunContext, 'session'>): SessionEvent {
  return {
    session_id: session.id,
    conversation_id: session.id,
    messages: [],
    turn_index: session.turns,
    metadata: {},
  };
}

/** The hook context of a run outside of any turn. */
export function hookContextOfRun(
  run: Pick<RunContext, 'session' | 'name' | 'tools' | 'isKept'>,
): HookContext {
  const { session, name, tools, isKept } = run;
  const { id, isResumed } = session;
  const now = new Date().toISOString();
  const host = { tool_count: tools.size };
  return { ...createHookContext(id), agent: name, context_name: name, isKept, isResumed, now, host };
}
