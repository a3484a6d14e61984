import { type Ending, requireUncut } from '../capability/cut-off.ts';
import { readReply } from '../capability/read-reply.ts';
import type { Emit } from '../contract/event.ts';
import { type Answer, answers, type EventKind, type HookMode } from '../contract/hook.ts';
import { noScrub, type Scrubber, scrubError } from '../contract/scrub.ts';
import type { Scene } from '../contract/turn.ts';
import type { Decoded } from '../dialects/dialect.ts';
import type { ForeignDialect, Payload, Point, Question, Seat } from '../dialects/foreign.ts';
import { RuntimeError, toFault, toRuntimeError } from '../errors.ts';
import { isObject, Json } from '../json/json.ts';
import { partsOf } from '../json/scan.ts';
import { startStopwatch, type Took, wholeMs } from '../time/stopwatch.ts';
import type { Transport } from '../transport/transport.ts';

/** One hook of a foreign dialect: what the dialect knows of it, and where it can be asked. */
export interface Member {
  readonly seat: Seat<unknown>;
  /** How long an answer may take; 0 for a hook that needs no process. */
  readonly timeoutMs: number;
  readonly transport: Transport | undefined;
  /** The same for what nobody waits for: it takes no slot that somebody does. */
  readonly aside: Transport | undefined;
}

export interface GroupContext {
  readonly emit: Emit;
  /** Writes down what hooks read from files, and says where. */
  readonly prepare: (scene: Scene, reader: Pick<ForeignDialect, 'name' | 'toldName'>) => Scene;
  /** Puts a long text into a file, and gives what stands in its place. */
  readonly spill: (text: string, scene: Scene) => string;
  /** What is said of an answer passes it. */
  readonly scrubber?: Scrubber | undefined;
  /** When aborted, what is still to be told is dropped. */
  readonly stop?: AbortSignal | undefined;
  /** Aborted when the runtime closes its processes. */
  readonly leaving?: AbortSignal | undefined;
}

/** What is asked, by whom, for whom. */
export interface Round {
  readonly point: string;
  readonly payload: Payload;
  readonly scene: Scene;
  /** Names the event to all hooks that are asked about it. */
  readonly call: string;
  /** What the event is about; `host` when a host fired the point itself. */
  readonly kind: EventKind | 'host';
  /** The event's moment; the point where a host fired it. */
  readonly phase: string;
  readonly signal?: AbortSignal | undefined;
  /** Told of each hook that is asked or told. */
  readonly onHear?: ((hook: string) => void) | undefined;
  /** Told what each hook answered, and how long it took. */
  readonly onAnswer?: ((hook: string, verdict: Answer['verdict'], took: Took) => void) | undefined;
}

export function pointOf({ points, name }: ForeignDialect, point: string): Point {
  const known = Object.hasOwn(points, point) ? points[point] : undefined;
  if (known === undefined) throw new RuntimeError('INTERNAL', `the dialect ${name} has no point "${point}"`);
  return known;
}

export interface MemberAsking {
  readonly round: Round;
  readonly question: Question;
  readonly mode: HookMode;
}

/**
 * One hook's answer. A fault goes to the dialect, whose rules say what it means; what goes wrong in reading it
 * is a denial that names the hook. Never rejects.
 */
export async function askMember(
  dialect: ForeignDialect,
  member: Member,
  { round, question, mode }: MemberAsking,
  context: GroupContext,
): Promise<Answer> {
  const { seat } = member;
  round.onHear?.(seat.name);
  const watch = startStopwatch();
  const ending = { signal: round.signal, leaving: context.leaving };
  const { output, notes } = await watch.run(() => exchange(dialect, member, { question, ending }, context));
  const answer = spill(dialect, output, (text) => context.spill(text, round.scene));
  for (const { level, message } of notes) context.emit({ type: 'note', name: seat.name, level, message });
  const took = watch.read();
  round.onAnswer?.(seat.name, answer.verdict, took);
  context.emit({
    type: 'decision',
    hook: seat.name,
    call: round.call,
    dialect: dialect.name,
    kind: round.kind,
    phase: round.phase,
    point: round.point,
    mode,
    verdict: answer.verdict,
    reason: answer.reason,
    metadata: answer.metadata,
    ...wholeMs(took),
    ...((answer.verdict === 'deny' || answer.verdict === 'abort') && answer.error && { error: answer.error }),
  });
  return answer;
}

async function exchange(
  dialect: ForeignDialect,
  { seat, transport }: Member,
  { question, ending }: { readonly question: Question; readonly ending: Ending },
  { scrubber = noScrub }: Pick<GroupContext, 'scrubber'>,
): Promise<Decoded<Answer>> {
  try {
    const own = dialect.answer(seat, question);
    if (own !== undefined) return { output: own, notes: [] };
    if (transport === undefined) throw new RuntimeError('INTERNAL', `hook "${seat.name}" has no process`);
    const message = dialect.encode(seat, question);
    const reply = await transport.exchange(message, ending.signal).catch((error) => toRuntimeError(error));
    const uncut = requireUncut(reply, ending);
    if (uncut instanceof RuntimeError) return dialect.read(seat, question, scrubError(uncut, scrubber));
    return readReply(uncut, scrubber, (given) => dialect.read(seat, question, given));
  } catch (thrown) {
    const error = toFault(scrubError(toRuntimeError(thrown), scrubber));
    const output = answers.deny(`hook "${seat.name}" failed: ${error.message}`, { error });
    return { output, notes: [] };
  }
}

export async function notifyMember(
  dialect: ForeignDialect,
  { seat, transport }: Member,
  { round, question }: { readonly round: Round; readonly question: Question },
  emit: Emit,
): Promise<void> {
  try {
    await transport?.notify?.(dialect.encode(seat, question), round.signal);
  } catch (thrown) {
    const { message } = toRuntimeError(thrown);
    emit({
      type: 'note',
      name: seat.name,
      level: 'warn',
      message: `${round.point} was not told: ${message}`,
    });
  }
}

function spill({ contextLimit }: ForeignDialect, answer: Answer, write: (text: string) => string): Answer {
  const { context: texts, metadata } = answer;
  if (contextLimit === undefined) return answer;
  const shorten = (text: string) => (text.length > contextLimit ? write(text) : text);
  return {
    ...answer,
    metadata: mapMessage(metadata, shorten),
    ...(texts !== undefined && { context: texts.map(shorten) }),
  };
}

/** What the hook says to the user is as long as what it says to the model. */
function mapMessage(metadata: Json, shorten: (text: string) => string): Json {
  const said = isObject(metadata.value) ? metadata.value['system_message'] : undefined;
  if (typeof said !== 'string') return metadata;
  const short = shorten(said);
  if (short === said) return metadata;
  return Json.from({ ...partsOf(metadata), system_message: short });
}
