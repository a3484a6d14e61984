import PQueue from 'p-queue';
import type { ForeignDialect, Question } from '../dialects/foreign.ts';
import { unwatched } from '../time/stopwatch.ts';
import { askMember, type GroupContext, type Member, notifyMember, pointOf, type Round } from './member.ts';

/** Takes questions to hooks whose answers do not count, or come too late to. */
export interface Teller {
  /**
   * Queues the question at once, and resolves when it has been put; what a hook is too far behind for is dropped and
   * said to be. Never rejects.
   */
  tell(member: Member, round: Round, question: Question): Promise<void>;
  /** Texts for the model that hooks have given since the last time. */
  takeLate(session: string): readonly string[];
  /** Waits for what is still being told, at most the hooks' timeouts; the rest is dropped. Never rejects. */
  close(): Promise<void>;
}

/** How long the end of a runtime may take before it says what it waits for. */
const SILENCE_MS = 1000;

/** Events a hook may be behind before the newest are dropped. */
const QUEUE_LENGTH = 1024;

export function openTeller(
  dialect: ForeignDialect,
  members: readonly Member[],
  context: GroupContext,
): Teller {
  const queues = new Map(members.map((member) => [member, new PQueue({ concurrency: 1 })]));
  const notes = new PQueue();
  const giveUp = new AbortController();
  const abandoned = Promise.withResolvers<void>();
  /** How much each hook is behind. */
  const open = new Map<Member, number>();
  const late = new Map<string, string[]>();
  const drop = (name: string, detail: string) =>
    context.emit({ type: 'dropped', name, what: 'observer event', detail });
  const abandon = () => {
    for (const [{ seat }, queue] of queues) {
      if (queue.size > 0) drop(seat.name, `${queue.size} events were still waiting when the runtime closed`);
      queue.clear();
    }
    giveUp.abort();
    abandoned.resolve();
  };
  context.stop?.addEventListener('abort', abandon, { once: true });
  const tellWaiting = (limitMs: number) => {
    const names = [...open].filter(([, count]) => count > 0).map(([{ seat }]) => seat.name);
    if (names.length === 0) return;
    const message = `the runtime is still waiting for ${names.join(', ')} before it closes, for ${limitMs / 1000} s at most`;
    context.emit({ type: 'note', name: dialect.name, level: 'warn', message });
  };

  const askAside = async (member: Member, round: Round, question: Question) => {
    const aside = { ...member, transport: member.aside };
    const told = { ...round, signal: giveUp.signal, onHear: undefined };
    const answer = await askMember(dialect, aside, { round: told, question, mode: 'observe' }, context);
    const { session_id } = round.scene;
    const texts = (answer.context ?? []).map((text) => dialect.remind?.(text) ?? text);
    if (texts.length > 0) late.set(session_id, [...(late.get(session_id) ?? []), ...texts]);
  };
  return {
    tell: async (member, round, question) => {
      // A server takes what is only told in the order in which it happened; its transport keeps that order.
      const isNote = member.aside?.notify !== undefined && !pointOf(dialect, round.point).isAsked;
      const queue = isNote ? notes : queues.get(member);
      if (queue === undefined) return;
      if (queue.size + queue.pending >= QUEUE_LENGTH) {
        drop(member.seat.name, `${round.point}: ${QUEUE_LENGTH} events are waiting already`);
        return;
      }
      round.onHear?.(member.seat.name);
      const told = { ...round, signal: giveUp.signal };
      const work = isNote
        ? () => notifyMember(dialect, member, { round: told, question }, context.emit)
        : () => askAside(member, round, question);
      open.set(member, (open.get(member) ?? 0) + 1);
      const done = () => void open.set(member, (open.get(member) ?? 0) - 1);
      const put = queue.add(() => unwatched(work).finally(done)).catch(() => {});
      await Promise.race([put, abandoned.promise]);
    },
    takeLate: (session) => {
      const texts = late.get(session) ?? [];
      late.delete(session);
      return texts;
    },
    close: async () => {
      // A server may have to be greeted first.
      const longest = 2 * Math.max(0, ...members.map(({ timeoutMs }) => timeoutMs));
      const timer = setTimeout(abandon, longest);
      const patience = setTimeout(() => tellWaiting(longest), SILENCE_MS);
      await Promise.all([notes, ...queues.values()].map((queue) => queue.onIdle()));
      clearTimeout(timer);
      clearTimeout(patience);
      context.stop?.removeEventListener('abort', abandon);
    },
  };
}
