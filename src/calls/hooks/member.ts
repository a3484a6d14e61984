import { RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import { startStopwatch, type Timing, wholeMs } from '../../base/time/stopwatch.ts';
import type { Emit } from '../../contract/event.ts';
import {
  type Answer,
  answers,
  type EventKind,
  type HookMode,
  withoutFaultText,
} from '../../contract/hook.ts';
import { noopScrubber, type Scrubber, scrubError } from '../../contract/scrub.ts';
import type { HookContext } from '../../contract/turn.ts';
import type { Decoded } from '../../dialects/dialect.ts';
import type { ForeignDialect, HookEntry, Payload, Point, Question } from '../../dialects/foreign-dialect.ts';
import type { Transport } from '../../process/transport.ts';
import { type CancelSignals, requireNotCancelled } from '../capability/cancellation.ts';
import { readReply } from '../capability/read-reply.ts';

/** One hook of a foreign dialect: its entry and its transports. */
export interface Member {
  readonly entry: HookEntry<unknown>;
  /** How long an answer may take; 0 for a hook that needs no process. */
  readonly timeoutMs: number;
  readonly transport: Transport | undefined;
  /** The transport for calls that are not awaited, in a pool of its own. */
  readonly backgroundTransport: Transport | undefined;
}

export interface GroupContext {
  readonly emit: Emit;
  /** Writes the files that hooks read, and returns the context with their paths. */
  readonly prepare: (
    context: HookContext,
    reader: Pick<ForeignDialect, 'name' | 'toolNameForHooks'>,
  ) => HookContext;
  /** Writes a long text to a file, and returns the excerpt with the path that replaces it. */
  readonly writeLongText: (text: string, context: HookContext) => string;
  /** Scrubs messages about an answer. */
  readonly scrubber?: Scrubber | undefined;
  /** When aborted, queued notifications are dropped. */
  readonly stop?: AbortSignal | undefined;
  /** Aborted when the runtime closes its processes. */
  readonly closing?: AbortSignal | undefined;
}

/** One call of the hooks of a point. */
export interface HookCall {
  readonly point: string;
  readonly payload: Payload;
  readonly hookContext: HookContext;
  /** Names the event to all hooks that are asked about it. */
  readonly call: string;
  /** What the event is about; `host` when a host fired the point itself. */
  readonly kind: EventKind | 'host';
  /** The event's moment; the point where a host fired it. */
  readonly phase: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the name of each hook that is asked or notified. */
  readonly onHear?: ((hook: string) => void) | undefined;
  /** Called with each hook's verdict and how long it took. */
  readonly onAnswer?: ((hook: string, verdict: Answer['verdict'], took: Timing) => void) | undefined;
}

export function pointOf({ points, name }: ForeignDialect, point: string): Point {
  const known = Object.hasOwn(points, point) ? points[point] : undefined;
  if (known === undefined) throw new RuntimeError('INTERNAL', `the dialect ${name} has no point "${point}"`);
  return known;
}

export interface MemberCall {
  readonly hookCall: HookCall;
  readonly question: Question;
  readonly mode: HookMode;
}

/**
 * Asks one hook and emits its decision. The dialect decides what a fault of the process means; an error while
 * reading the reply is a denial that names the hook. Never rejects.
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
  const { output, notes } = await watch.run(() =>
    exchange(dialect, member, { question, ending: signals }, context),
  );
  const answer = moveLongContext(dialect, output, (text) =>
    context.writeLongText(text, hookCall.hookContext),
  );
  for (const { level, message } of notes) context.emit({ type: 'note', name: entry.name, level, message });
  const took = watch.read();
  hookCall.onAnswer?.(entry.name, answer.verdict, took);
  context.emit({
    type: 'decision',
    hook: entry.name,
    call: hookCall.call,
    dialect: dialect.name,
    kind: hookCall.kind,
    phase: hookCall.phase,
    point: hookCall.point,
    mode,
    verdict: answer.verdict,
    reason: answer.reason,
    metadata: answer.metadata,
    ...wholeMs(took),
    ...((answer.verdict === 'deny' || answer.verdict === 'abort') && answer.error && { error: answer.error }),
  });
  return withoutFaultText(answer);
}

async function exchange(
  dialect: ForeignDialect,
  { entry, transport }: Member,
  { question, ending }: { readonly question: Question; readonly ending: CancelSignals },
  { scrubber = noopScrubber }: Pick<GroupContext, 'scrubber'>,
): Promise<Decoded<Answer>> {
  try {
    const own = dialect.staticAnswer(entry, question);
    if (own !== undefined) return { output: own, notes: [] };
    if (transport === undefined) throw new RuntimeError('INTERNAL', `hook "${entry.name}" has no process`);
    const message = dialect.encode(entry, question);
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
    emit({ ...about, message: `${hookCall.point} was not told: ${message}` });
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

/** The metadata with a long `system_message` (the text for the user) shortened too. */
function mapMessage(metadata: Json, shorten: (text: string) => string): Json {
  const message = isObject(metadata.value) ? metadata.value['system_message'] : undefined;
  if (typeof message !== 'string') return metadata;
  const short = shorten(message);
  if (short === message) return metadata;
  return Json.from({ ...membersOf(metadata), system_message: short });
}
