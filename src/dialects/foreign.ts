import type { ForeignName } from '../config/config.ts';
import type { Answer, HookEvent, Verdict } from '../contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import type { Scene } from '../contract/turn.ts';
import type { RuntimeError } from '../errors.ts';
import type { Message, Reply } from '../transport/transport.ts';
import type { Composed, Spoken } from './compose.ts';
import type { Composition } from './composition.ts';
import type { Codec, Decoded } from './dialect.ts';

/** What goes to a hook, as a tree in which `Json` parts keep their text. */
export type Payload = Readonly<Record<string, unknown>>;

/** A hook as its dialect sees it. */
export interface Seat<Settings> {
  readonly name: string;
  /** deny: what the dialect would let pass when the hook fails is denied. */
  readonly onFailure: 'own' | 'deny';
  /** Absolute. */
  readonly cwd: string;
  /** The file in which the hook is declared, which its questions to a person may name. */
  readonly source?: string;
  readonly settings: Settings;
}

/** One point of a dialect: how its hooks are asked, and what several answers come to. */
export interface Point {
  /**
   * parallel: all at once, all to their end. serial: one after another, each given the same, until a verdict of
   * `ends`. chain: one after another, each given what the last one made of it, until one does not pass.
   */
  readonly order: 'parallel' | 'serial' | 'chain';
  readonly ends?: readonly Verdict[];
  /** Whether an answer counts. Hooks of a point where none does are told. */
  readonly isAsked: boolean;
  /** Whether those who are only told are waited for, one after another, as their own system does. */
  readonly isAwaited?: boolean;
  readonly composition: Composition;
}

/** A question at one point. */
export interface Question {
  readonly point: string;
  readonly payload: Payload;
  readonly scene: Scene;
}

/** One foreign vocabulary, spoken by pure functions. `Settings` is what its entries have in the config. */
export interface ForeignDialect<Settings = unknown> {
  readonly name: ForeignName;
  /** Every point, by the dialect's own name for it. */
  readonly points: Readonly<Record<string, Point>>;
  /** Whether hooks stand where the file has them, so that they see what hooks of other dialects between them changed. */
  readonly keepsPlace?: boolean;
  /** The name by which hooks are told a tool that has these names in other systems; absent: its own. */
  toldName?(tool: string, aliases?: readonly string[]): string;
  /** How calls of one round wait for one another where hooks of the dialect hear of them. */
  readonly pace: 'judged' | 'judged_first' | 'one_by_one';
  /** Whether hooks read `scene.transcript`, which is written down before they are asked. */
  readonly readsTranscript: boolean;
  /** Whether a session that goes on in another process begins for its hooks a second time. */
  readonly hearsResume?: boolean;
  /** Whether its forced turns are counted in a row, and not over the whole turn. */
  readonly forcesInARow?: boolean;
  /** Whether hooks of a person's message also see what the turn goes on with when its loop calls the model again. */
  readonly hearsOwnPrompts?: boolean;
  /** What a call is denied with where nobody can answer its hooks' question; absent: the call waits. */
  readonly unasked?: string;
  /** Characters of one text for the model, beyond which it goes to a file; absent: no bound. */
  readonly contextLimit?: number;
  /** The points that an event of a pipeline reaches, in the order in which they are fired. */
  pointsAt(event: HookEvent): readonly string[];
  /** A point's payload for an event of a pipeline. */
  describe(point: string, event: HookEvent, scene: Scene): Payload;
  /** A point's payload as a host hands it in, with what may be left out filled in. Throws EVENT_INVALID. */
  complete(point: string, given: Payload, scene: Scene): Payload;
  /** Whether the hook hears of it. */
  selects(seat: Seat<Settings>, question: Question): boolean;
  /** Whether the hook answers behind the caller's back: only `context` of its answer counts, later. */
  isBackground(seat: Seat<Settings>, point: string): boolean;
  /** The answer of a hook that needs no process; undefined for all others. */
  answer(seat: Seat<Settings>, question: Question): Answer | undefined;
  encode(seat: Seat<Settings>, question: Question): Message;
  /**
   * What a hook's reply means, or the fault in the place of one (PROCESS_TIMEOUT, PROCESS_START, SERVER_EXIT, …).
   * Never lets a failure pass without `failedOpen`. Members of `replace` have the dialect's own names, but
   * `args`, `content`, `messages` and `name`.
   */
  read(seat: Seat<Settings>, question: Question, reply: Reply | RuntimeError): Decoded<Answer>;
  /**
   * The last word on what the hooks of a point came to: members that no composition by member can shape, aggregates.
   * `selected` counts the hooks that were to be asked, those included that an earlier answer has cut off.
   */
  conclude?(question: Question, spoken: readonly Spoken[], composed: Composed, selected?: number): Composed;
  /** The payload as the next hook of a chain sees it. */
  carry(question: Question, answer: Answer): Payload;
  /**
   * The composed answer as the pipeline takes it: `replace` in the words of the event's phase (see contract/hook.ts),
   * and each text of `context` in the form in which the model is to read it. Throws REPLY_MALFORMED.
   */
  settle(event: HookEvent, question: Question, answer: Answer): Answer;
  /** A late text of a hook in the background, in the form in which the model is to read it; absent: as it is. */
  remind?(text: string): string;
  /** What is told of a round at a point, if anything: see PluginHookFired. */
  report?(question: Question, round: Round): Readonly<Record<string, unknown>> | undefined;
  /** Tools in this dialect, where it has any. */
  readonly tool?: Codec<ToolCall, ToolOutcome>;
}

/** What a round at one point came to. */
export interface Round {
  /** Hooks that were selected, whether or not all of them were asked. */
  readonly selected: number;
  readonly answer: Answer;
}
