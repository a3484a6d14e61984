import PQueue from 'p-queue';
import type { ForeignDialect, Question } from '../dialects/foreign-dialect.ts';
import { unwatched } from '../time/stopwatch.ts';
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

/** Events a hook may be behind before the newest are dropped. */
const QUEUE_LENGTH = 1024;

export function openBackgroundHooks(
  dialect: ForeignDialect,
  members: readonly Member[],
  context: GroupContext,
): BackgroundHooks {
  const queues = new Map(members.map((member) => [member, new PQueue({ concurrency: 1 })]));
  const notifications = new PQueue();
  const abortController = new AbortController();
  const abandoned = Promise.withResolvers<void>();
  const backlog = createBacklog();
  const late = createLateContext(dialect);
  const drop = (name: string, detail: string) =>
    context.emit({ type: 'dropped', name, what: 'observer event', detail });
  const abandon = () => {
    for (const [{ entry }, queue] of queues) {
      if (queue.size > 0) drop(entry.name, `${queue.size} events were still waiting when the runtime closed`);
      queue.clear();
    }
    abortController.abort();
    abandoned.resolve();
  };
  context.stop?.addEventListener('abort', abandon, { once: true });
  const warnOfWaiting = (limitMs: number) => {
    const names = backlog.names();
    if (names.length === 0) return;
    const message = `the runtime is still waiting for ${names.join(', ')} before it closes, for ${limitMs / 1000} s at most`;
    context.emit({ type: 'note', name: dialect.name, level: 'warn', message });
  };
  const ask = async (member: Member, hookCall: HookCall, question: Question) => {
    const backgroundMember = { ...member, transport: member.backgroundTransport };
    const call = { hookCall: { ...hookCall, onHear: undefined }, question, mode: 'observe' } as const;
    const { context: texts = [] } = await askMember(dialect, backgroundMember, call, context);
    late.add(hookCall.hookContext.session_id, texts);
  };
  return {
    enqueue: async (member, given, question) => {
      const hookCall = { ...given, signal: abortController.signal };
      // A server gets notifications in event order, which its transport keeps.
      const isNotification =
        member.backgroundTransport?.notify !== undefined && !pointOf(dialect, hookCall.point).isFilter;
      const queue = isNotification ? notifications : queues.get(member);
      if (queue === undefined) return;
      if (queue.size + queue.pending >= QUEUE_LENGTH) {
        drop(member.entry.name, `${hookCall.point}: ${QUEUE_LENGTH} events are waiting already`);
        return;
      }
      hookCall.onHear?.(member.entry.name);
      const work = isNotification
        ? () => notifyMember(dialect, member, { hookCall, question }, context.emit)
        : () => ask(member, hookCall, question);
      const done = backlog.add(member);
      const put = queue.add(() => unwatched(work).finally(done)).catch(() => {});
      await Promise.race([put, abandoned.promise]);
    },
    takeLateContext: late.take,
    close: async () => {
      // Doubled, since a server may need its handshake first.
      const longest = 2 * Math.max(0, ...members.map(({ timeoutMs }) => timeoutMs));
      const timer = setTimeout(abandon, longest);
      const warningTimer = setTimeout(() => warnOfWaiting(longest), SILENCE_MS);
      await Promise.all([notifications, ...queues.values()].map((queue) => queue.onIdle()));
      clearTimeout(timer);
      clearTimeout(warningTimer);
      context.stop?.removeEventListener('abort', abandon);
    },
  };
}

/** Counts the unfinished questions of each hook. */
function createBacklog() {
  const counts = new Map<Member, number>();
  const change = (member: Member, by: number) => void counts.set(member, (counts.get(member) ?? 0) + by);
  return {
    /** Returns the function to call when the question was handled. */
    add: (member: Member) => {
      change(member, 1);
      return () => change(member, -1);
    },
    /** The hooks that have not finished. */
    names: () => [...counts].filter(([, count]) => count > 0).map(([{ entry }]) => entry.name),
  };
}

/** Texts for the model that came after their moment, by session. */
function createLateContext({ wrapLateContext }: ForeignDialect) {
  const late = new Map<string, string[]>();
  return {
    add: (session: string, texts: readonly string[]) => {
      const wrapped = texts.map((text) => wrapLateContext?.(text) ?? text);
      if (wrapped.length > 0) late.set(session, [...(late.get(session) ?? []), ...wrapped]);
    },
    take: (session: string): readonly string[] => {
      const texts = late.get(session) ?? [];
      late.delete(session);
      return texts;
    },
  };
}
