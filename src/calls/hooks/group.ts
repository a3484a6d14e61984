import PQueue from 'p-queue';
import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import { startStopwatch, type Timing, unwatched, wholeMs } from '../../base/time/stopwatch.ts';
import type { Emit } from '../../contract/event.ts';
import {
  type Answer,
  answers,
  type EventKind,
  type HookEvent,
  type HookMode,
  withoutFaultText,
} from '../../contract/hook.ts';
import { currentOperation, keepContext } from '../../contract/operation.ts';
import { noopScrubber, type Scrubber, scrubError } from '../../contract/scrub.ts';
import type { TraceContext } from '../../contract/trace.ts';
import type { HookContext } from '../../contract/turn.ts';
import { type Composed, compose, type HookAnswer } from '../../dialects/compose.ts';
import type { Decoded } from '../../dialects/dialect.ts';
import type { ForeignDialect, HookEntry, Payload, Point, Question } from '../../dialects/foreign-dialect.ts';
import type { Transport } from '../../process/transport.ts';
import {
  type CancelSignals,
  isCancelledAnswer,
  readReply,
  requireNotCancelled,
  withTrace,
} from '../capability/invoke.ts';
import { limitQueues } from './observer-queue.ts';

export interface Group {
  readonly dialect: ForeignDialect;
  readonly members: readonly Member[];
  pointsAt(event: HookEvent): readonly string[];
  /** Calls the hooks of a point and composes their answers by the dialect's rule. Never rejects. */
  ask(call: HookCall): Promise<Composed>;
  /**
   * Notifies the hooks of a point. Resolves at once, unless the dialect awaits the point. Then it resolves when all are
   * notified or the caller aborts, which stops no notification. Never rejects.
   */
  notify(call: HookCall): Promise<void>;
  takeLateContext(session: string): readonly string[];
  warn(name: string, message: string): void;
  /** Returns a separate group of the named hooks, which the caller closes. */
  restrict(names: ReadonlySet<string>): Group;
  /** Waits for queued notifications, at most twice the longest timeout. Never rejects. */
  close(): Promise<void>;
}

export function openGroup(dialect: ForeignDialect, members: readonly Member[], context: GroupContext): Group {
  const backgroundHooks = openBackgroundHooks(dialect, members, context);
  const unsubscribed = trackUnsubscribed();
  const select = ({ point, payload, hookContext }: HookCall): Selected => {
    const question: Question = { point, payload, hookContext };
    const selected = members.filter(({ entry }) => dialect.selects(entry, question));
    const isRead = dialect.readsTranscript && selected.length > 0;
    return {
      selected,
      question: isRead ? { ...question, hookContext: context.prepare(hookContext, dialect) } : question,
    };
  };
  const report = (question: Question, outcome: { selected: number; answer: Answer }) => {
    const data = dialect.report?.(question, outcome);
    if (data !== undefined) context.emit({ type: 'plugin_hook_fired', hook_name: question.point, data });
  };
  const warn = (name: string, message: string) =>
    context.emit({ type: 'note', name, level: 'warn', message });
  return {
    dialect,
    members,
    warn,
    pointsAt: (event) => dialect.pointsAt(event),
    ask: async (hookCall) => {
      const point = pointOf(dialect, hookCall.point);
      const { question, selected } = select(hookCall);
      const inBackground = (member: Member) => dialect.isBackground(member.entry, hookCall.point);
      for (const member of selected.filter(inBackground))
        void backgroundHooks.enqueue(member, hookCall, question);
      const askedMembers = selected.filter(
        (member) => !inBackground(member) && !unsubscribed.has(member, hookCall.point),
      );
      const asking = { hookCall, question, point, onUnsubscribe: unsubscribed.watch };
      const hookAnswers = await askInOrder(dialect, askedMembers, asking, context);
      // A cancelled hook has not answered, so the dialect's rules do not apply.
      const cut = hookAnswers.find(({ answer }) => isCancelledAnswer(answer));
      if (cut !== undefined) return cut;
      const composed = composeOrDeny(dialect, hookAnswers, {
        question,
        point,
        selected: askedMembers.length,
        warn,
      });
      report(question, { selected: selected.length, answer: composed.answer });
      return composed;
    },
    notify: async (hookCall) => {
      const { question, selected } = select(hookCall);
      const isAwaited = pointOf(dialect, hookCall.point).isAwaited === true;
      const notifications = isAwaited
        ? notifyInOrder(selected, (member) => backgroundHooks.enqueue(member, hookCall, question))
        : Promise.all(selected.map((member) => backgroundHooks.enqueue(member, hookCall, question)));
      if (isAwaited) await untilAborted(notifications, hookCall.signal);
      report(question, { selected: selected.length, answer: answers.allow() });
    },
    takeLateContext: backgroundHooks.takeLateContext,
    restrict: (names) =>
      openGroup(
        dialect,
        members.filter(({ entry }) => names.has(entry.name)),
        context,
      ),
    close: backgroundHooks.close,
  };
}

async function notifyInOrder(
  members: readonly Member[],
  notify: (member: Member) => Promise<void>,
): Promise<void> {
  for (const member of members) await notify(member);
}

async function untilAborted(work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  const { promise: givenUp, resolve } = Promise.withResolvers<void>();
  const leave = () => resolve();
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  await Promise.race([work, givenUp]);
  signal?.removeEventListener('abort', leave);
}

function trackUnsubscribed() {
  const silent = new Map<Member, Map<string, number>>();
  const lifeOf = ({ transport }: Member) => transport?.startCount?.() ?? 0;
  return {
    has: (member: Member, point: string) => silent.get(member)?.get(point) === lifeOf(member),
    /** Call before the question; call the returned function if the member does not handle the point. */
    watch: (member: Member, point: string) => {
      const before = lifeOf(member);
      return () => {
        const life = lifeOf(member);
        // After a restart, either process may have answered.
        if (before !== 0 && before !== life) return;
        silent.set(member, (silent.get(member) ?? new Map<string, number>()).set(point, life));
      };
    },
  };
}

interface Selected {
  readonly question: Question;
  readonly selected: readonly Member[];
}

interface GroupCall {
  readonly hookCall: HookCall;
  readonly question: Question;
  readonly point: Point;
  readonly onUnsubscribe: (member: Member, point: string) => () => void;
}

async function askInOrder(
  dialect: ForeignDialect,
  members: readonly Member[],
  { hookCall, question, point, onUnsubscribe }: GroupCall,
  context: GroupContext,
): Promise<HookAnswer[]> {
  const ask = async (member: Member, asked: Question): Promise<HookAnswer> => {
    const remember = onUnsubscribe(member, hookCall.point);
    const answer = await askMember(dialect, member, { hookCall, question: asked, mode: 'filter' }, context);
    if (answer.verdict === 'allow' && answer.isUnsubscribed === true) remember();
    return { hook: member.entry.name, answer };
  };
  if (point.order === 'parallel') return await Promise.all(members.map((member) => ask(member, question)));
  const hookAnswers: HookAnswer[] = [];
  let current = question;
  for (const member of members) {
    const one = await ask(member, current);
    hookAnswers.push(one);
    const { answer } = one;
    const isEnd = point.ends?.includes(answer.verdict) ?? false;
    if (isEnd || (point.order === 'chain' && answer.verdict !== 'allow' && answer.verdict !== 'modify'))
      break;
    if (point.order === 'chain') current = { ...current, payload: dialect.nextPayload(current, answer) };
  }
  return hookAnswers;
}

function composeOrDeny(
  dialect: ForeignDialect,
  hookAnswers: readonly HookAnswer[],
  {
    question,
    point,
    selected,
    warn,
  }: Pick<GroupCall, 'question' | 'point'> & Pick<Group, 'warn'> & { readonly selected: number },
): Composed {
  try {
    const composed = compose(hookAnswers, point.composition);
    return dialect.conclude?.(question, hookAnswers, composed, selected) ?? composed;
  } catch (thrown) {
    const error = toFault(thrown);
    const hook = hookAnswers.at(-1)?.hook ?? null;
    const reason = `the answers of the hooks could not be combined: ${error.message}`;
    warn(hook ?? dialect.name, reason);
    return { hook, answer: answers.deny(reason, { error }) };
  }
}

interface BackgroundHooks {
  /**
   * Resolves when the question is handled. If the queue is full, drops the question and emits `dropped`. Never rejects.
   */
  enqueue(member: Member, call: HookCall, question: Question): Promise<void>;
  takeLateContext(session: string): readonly string[];
  close(): Promise<void>;
}

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
      // Servers get notifications in event order, which their transport keeps.
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
      const inContext = keepContext();
      const put = queue
        .add(() => inContext(() => unwatched(work)).finally(() => count(member, -1)))
        .catch(() => {});
      await Promise.race([put, abandoned.promise]);
    },
    takeLateContext: late.take,
    close: async () => {
      // Doubled, because a server may need its handshake first.
      const longest = 2 * Math.max(0, ...members.map(({ timeoutMs }) => timeoutMs));
      const warningTimer = setTimeout(() => warnOfWaiting(longest), SILENCE_MS);
      await close(longest);
      clearTimeout(warningTimer);
    },
  };
}

/**
 * Texts for the model that arrived late, by session. A session may never return, so both the texts and the sessions are
 * bounded; the newest are kept.
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

export interface Member {
  readonly entry: HookEntry<unknown>;
  /** 0 for a hook that needs no process. */
  readonly timeoutMs: number;
  readonly transport: Transport | undefined;
  readonly backgroundTransport: Transport | undefined;
}

export interface GroupContext {
  readonly emit: Emit;
  readonly prepare: (
    context: HookContext,
    reader: Pick<ForeignDialect, 'name' | 'toolNameForHooks'>,
  ) => HookContext;
  /** Writes a long text to a file and returns an excerpt with the file's path. */
  readonly writeLongText: (text: string, context: HookContext) => string;
  readonly scrubber?: Scrubber | undefined;
  readonly stop?: AbortSignal | undefined;
  readonly closing?: AbortSignal | undefined;
}

export interface HookCall {
  readonly point: string;
  readonly payload: Payload;
  readonly hookContext: HookContext;
  readonly call: string;
  readonly kind: EventKind | 'host';
  readonly phase: string;
  readonly signal?: AbortSignal | undefined;
  readonly onHear?: ((hook: string) => void) | undefined;
  readonly onAnswer?: ((hook: string, verdict: Answer['verdict'], took: Timing) => void) | undefined;
}

export function pointOf({ points, name }: ForeignDialect, point: string): Point {
  const known = Object.hasOwn(points, point) ? points[point] : undefined;
  if (known === undefined) throw new RuntimeError('INTERNAL', `the dialect ${name} has no point "${point}"`);
  return known;
}

interface MemberCall {
  readonly hookCall: HookCall;
  readonly question: Question;
  readonly mode: HookMode;
}

/**
 * Calls one hook and emits its decision. The dialect decides what a process fault means; an error while reading the
 * reply is a denial. Never rejects.
 */
export async function askMember(
  dialect: ForeignDialect,
  member: Member,
  { hookCall, question, mode }: MemberCall,
  context: GroupContext,
): Promise<Answer> {
  const { entry } = member;
  hookCall.onHear?.(entry.name);
  const watch = startStopwatch();
  const signals = { signal: hookCall.signal, closing: context.closing };
  const isStatic = member.transport === undefined;
  const { kind, phase } = hookCall;
  const span = context.emit.startHook?.({ hook: entry.name, kind, phase, mode, isStatic });
  const exchanged = { question, ending: signals, trace: span?.trace };
  const { output, notes } = await watch.run(() => exchange(dialect, member, exchanged, context));
  const answer = moveLongContext(dialect, output, (text) =>
    context.writeLongText(text, hookCall.hookContext),
  );
  for (const { level, message } of notes) context.emit({ type: 'note', name: entry.name, level, message });
  const took = watch.read();
  const { error } = { error: undefined, ...answer };
  const outcome = { verdict: answer.verdict, error, ...took };
  span?.end(outcome);
  context.emit.measures?.hook({ hook: entry.name, kind, phase, mode }, outcome);
  hookCall.onAnswer?.(entry.name, answer.verdict, took);
  context.emit({
    type: 'decision',
    hook: entry.name,
    call: hookCall.call,
    dialect: dialect.name,
    kind,
    phase,
    point: hookCall.point,
    mode,
    verdict: answer.verdict,
    reason: answer.reason,
    metadata: answer.metadata,
    ...wholeMs(took),
    ...(error && { error }),
    ...currentOperation(),
  });
  return withoutFaultText(answer);
}

async function exchange(
  dialect: ForeignDialect,
  { entry, transport }: Member,
  {
    question,
    ending,
    trace,
  }: {
    readonly question: Question;
    readonly ending: CancelSignals;
    readonly trace: TraceContext | undefined;
  },
  { scrubber = noopScrubber }: Pick<GroupContext, 'scrubber'>,
): Promise<Decoded<Answer>> {
  try {
    const own = dialect.staticAnswer(entry, question);
    if (own !== undefined) return { output: own, notes: [] };
    if (transport === undefined) throw new RuntimeError('INTERNAL', `hook "${entry.name}" has no process`);
    const message = withTrace(dialect.encode(entry, question), trace);
    const reply = await transport.exchange(message, ending.signal).catch((error) => toRuntimeError(error));
    const uncut = requireNotCancelled(reply, ending);
    if (uncut instanceof RuntimeError) return dialect.decode(entry, question, scrubError(uncut, scrubber));
    return readReply(uncut, scrubber, (given) => dialect.decode(entry, question, given));
  } catch (thrown) {
    const error = toFault(scrubError(toRuntimeError(thrown), scrubber));
    const output = answers.deny(`hook "${entry.name}" failed: ${error.message}`, { error });
    return { output, notes: [] };
  }
}

export async function notifyMember(
  dialect: ForeignDialect,
  { entry, transport }: Member,
  { hookCall, question }: Omit<MemberCall, 'mode'>,
  emit: Emit,
): Promise<void> {
  try {
    await transport?.notify?.(dialect.encode(entry, question), hookCall.signal);
  } catch (thrown) {
    const { message } = toRuntimeError(thrown);
    const about = { type: 'note', name: entry.name, level: 'warn' } as const;
    emit({ ...about, message: `the hook did not receive ${hookCall.point}: ${message}` });
  }
}

function moveLongContext(
  { maxContextCharacters }: ForeignDialect,
  answer: Answer,
  write: (text: string) => string,
): Answer {
  const { context: texts, metadata } = answer;
  if (maxContextCharacters === undefined) return answer;
  const shorten = (text: string) => (text.length > maxContextCharacters ? write(text) : text);
  return {
    ...answer,
    metadata: mapMessage(metadata, shorten),
    ...(texts !== undefined && { context: texts.map(shorten) }),
  };
}

function mapMessage(metadata: Json, shorten: (text: string) => string): Json {
  const message = isObject(metadata.value) ? metadata.value['system_message'] : undefined;
  if (typeof message !== 'string') return metadata;
  const short = shorten(message);
  if (short === message) return metadata;
  return Json.from({ ...membersOf(metadata), system_message: short });
}
