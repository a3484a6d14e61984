import { isObject, type Json } from '../../base/json/json.ts';
import { exactMembers } from '../../base/json/scan.ts';
import type { SessionEvent } from '../../contract/hook.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { createHookContext, type HookContext } from '../../contract/turn.ts';
import type { RunRecord, Store } from '../../store/store.ts';
import { toCurrentSteps } from './retries.ts';
import type { RunContext, Session } from './run-context.ts';
import { stepEntryOf } from './step-outcome.ts';

export function sessionEvent({ session }: Pick<RunContext, 'session'>): SessionEvent {
  return {
    session_id: session.id,
    conversation_id: session.id,
    messages: session.messages,
    turn_index: session.turns,
    metadata: {},
  };
}

export function hookContextOfRun(
  run: Pick<RunContext, 'session' | 'name' | 'tools' | 'isKept'>,
): HookContext {
  const { session, name, tools, isKept } = run;
  const { id, isResumed } = session;
  const now = new Date().toISOString();
  const host = { tool_count: tools.size };
  return { ...createHookContext(id), agent: name, context_name: name, isKept, isResumed, now, host };
}

export function newSession(id: string): Omit<Session, 'isResumed'> {
  return { id, turns: 0, messages: [], context: [] };
}

/** Restores the session from the journaled steps. Throws STORE_FAILED. */
export async function openSession(store: Store, run: RunRecord): Promise<Session> {
  const { current } = toCurrentSteps(run.id, await store.listSteps(run.id));
  const entries = [...current.values()].map((record) => stepEntryOf(run, record));
  const chats = entries.filter((entry) => entry?.kind === 'chat');
  const answered = chats.filter((entry) => entry?.status === 'ok');
  const turns = answered.length;
  const calls = entries.filter((entry) => entry?.kind === 'chat' || entry?.kind === 'tool');
  const ended = calls.map((entry) => entry && endedBy(entry.view)).find((stopped) => stopped !== undefined);
  return {
    id: run.id,
    turns,
    messages: messagesOf(answered.at(-1)?.view),
    isResumed: true,
    context: [],
    ...(ended && { ended }),
  };
}

function messagesOf(view: Json | undefined): readonly ChatMessage[] {
  const messages = view?.skeleton.startsWith('{') ? exactMembers(view).get('messages')?.value : undefined;
  return Array.isArray(messages) ? messages.filter(isMessage) : [];
}

function isMessage(value: unknown): value is ChatMessage {
  return isObject(value) && typeof value['role'] === 'string' && typeof value['content'] === 'string';
}

function endedBy(json: Json): Session['ended'] {
  // The record may be long, so only these members are read.
  const members = exactMembers(json);
  if (members.get('abort')?.value !== 'session') return undefined;
  const [hook, reason, metadata] = ['hook', 'reason', 'metadata'].map((key) => members.get(key)?.value);
  return { hook: String(hook), reason: String(reason), isSession: true, metadata };
}
