import PQueue from 'p-queue';
import { unwatched } from '../../base/time/stopwatch.ts';
import type { ForeignDialect, Question } from '../../dialects/foreign-dialect.ts';
import { limitQueues } from './event-queues.ts';
import { askMember, type GroupContext, type HookCall, type Member, notifyMember, pointOf } from './member.ts';

/** Delivers questions to hooks whose answers are ignored, or used only as later context. */
export interface BackgroundHooks {
  /**
   * Queues the question, and resolves when it was handled. If the hook's queue is full, the question is
   * dropped and a `dropped` event emitted. Never rejects.
   */
  enqueue(member: Member, call: HookCall, question: Question): Promise<void>;
  /** Takes the texts for the model that hooks have given since the last call. */
  takeLateContext(session: string): readonly string[];
  /** Waits for the queues, at most the hooks' timeouts; the rest is dropped. Never rejects. */
  close(): Promise<void>;
}

/** How long the end of a runtime may take before it says what it waits for. */
const SILENCE_MS = 1000;

export function openBackgroundHooks(
  dialect: ForeignDialect,
  members: readonly Member[],
  context: GroupContext,
): BackgroundHooks {
  const { emit, stop } = context;
  const queues = new Map(members.map((member) => [member, new PQueue({ concurrency: 1 })]));
  const notifications = new PQueue();
  const named = [...queues].map(([{ entry }, queue]) => [entry.name, queue] as const);
  const { signal, isFull, close } = limitQueues([[dialect.name, notifications], ...named], emit, stop);
  const abandoned = Promise.withResolvers<void>();
  const unfinished = new Map<Member, number>();
  const count = (member: Member, by: number) => unfinished.set(member, (unfinished.get(member) ?? 0) + by);
  const late = createLateContext(dialect);
  signal.addEventListener('abort', () => abandoned.resolve(), { once: true });
  const warnOfWaiting = (limitMs: number) => {
    const names = [...unfinished].filter(([, count]) => count > 0).map(([{ entry }]) => entry.name);
    if (names.length === 0) return;
    const message = `the runtime is still waiting for ${names.join(', ')} before it closes, for ${limitMs / 1000} s at most`;
    emit({ type: 'note', name: dialect.name, level: 'warn', message });
  };
  const ask = async (member: Member, hookCall: HookCall, question: Question) => {
    const backgroundMember = { ...member, transport: member.backgroundTransport };
    const call = { hookCall: { ...hookCall, onHear: undefined }, question, mode: 'observe' } as const;
    const { context: texts = [] } = await askMember(dialect, backgroundMember, call, context);
    late.add(hookCall.hookContext.session_id, texts);
  };
  return {
    enqueue: async (member, given, question) => {
      const hookCall = { ...given, signal };
      // A server gets notifications in event order, which its transport keeps.
      const isNotification =
        member.backgroundTransport?.notify !== undefined && !pointOf(dialect, hookCall.point).isFilter;
      const { name } = member.entry;
      const queue = isNotification ? notifications : queues.get(member);
      if (queue === undefined || isFull(name, queue.size + queue.pending, hookCall.point)) return;
      hookCall.onHear?.(name);
      const work = isNotification
        ? () => notifyMember(dialect, member, { hookCall, question }, emit)
        : () => ask(member, hookCall, question);
      count(member, 1);
      const put = queue.add(() => unwatched(work).finally(() => count(member, -1))).catch(() => {});
      await Promise.race([put, abandoned.promise]);
    },
    takeLateContext: late.take,
    close: async () => {
      // Doubled, since a server may need its handshake first.
      const longest = 2 * Math.max(0, ...members.map(({ timeoutMs }) => timeoutMs));
      const warningTimer = setTimeout(() => warnOfWaiting(longest), SILENCE_MS);
      await close(longest);
      clearTimeout(warningTimer);
    },
  };
}

/**
 * Texts for the model that came after their moment, by session. A session may never come back: of so many texts the latest
 * are kept, and of so many sessions those that were heard of last.
 */
function createLateContext({ wrapLateContext }: ForeignDialect) {
  const late = new Map<string, string[]>();
  return {
    add: (session: string, texts: readonly string[]) => {
      const wrapped = texts.map((text) => wrapLateContext?.(text) ?? text);
      if (wrapped.length === 0) return;
      const kept = [...(late.get(session) ?? []), ...wrapped].slice(-MOST_LATE_TEXTS);
      late.delete(session);
      late.set(session, kept);
      const [oldest] = late.keys();
      if (late.size > MOST_LATE_SESSIONS && oldest !== undefined) late.delete(oldest);
    },
    take: (session: string): readonly string[] => {
      const texts = late.get(session) ?? [];
      late.delete(session);
      return texts;
    },
  };
}

const MOST_LATE_TEXTS = 64;
const MOST_LATE_SESSIONS = 256;
