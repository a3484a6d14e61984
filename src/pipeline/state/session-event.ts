import type { SessionEvent } from '../../contract/hook.ts';
import { bareScene, type Scene } from '../../contract/turn.ts';
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

/** Where something happens in a run outside of any turn. */
export function sceneOfRun(run: Pick<RunContext, 'session' | 'name' | 'tools' | 'isKept'>): Scene {
  const { session, name, tools, isKept } = run;
  const { id, isResumed } = session;
  const now = new Date().toISOString();
  const host = { tool_count: tools.size };
  return { ...bareScene(id), agent: name, context_name: name, isKept, isResumed, now, host };
}
