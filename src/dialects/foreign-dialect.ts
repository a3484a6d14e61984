import type { RuntimeError } from '../base/errors.ts';
import type { Message, Reply } from '../contract/exchange.ts';
import type { Answer, HookEvent, Verdict } from '../contract/hook.ts';
import type { HookContext } from '../contract/turn.ts';
import type { Composed, Composition, HookAnswer } from './compose.ts';
import type { Decoded, Note } from './dialect.ts';

/** The payload of a hook: a tree in which values of type `Json` keep their exact text. */
export type Payload = Readonly<Record<string, unknown>>;

/** One configured hook, as its dialect needs it. */
export interface HookEntry<Settings> {
  readonly name: string;
  /** own: a failure is treated by the dialect's own rules; deny: it denies. */
  readonly onFailure: 'own' | 'deny';
  /** Absolute. */
  readonly cwd: string;
  /** The file in which the hook is declared; shown to the person whom it asks. */
  readonly source?: string;
  readonly settings: Settings;
}

/**
 * One hook point of a dialect: the order in which its hooks are called and how their answers are composed.
 */
export interface Point {
  /**
   * parallel: all at once, all to their end. serial: one after another, each given the same, until a verdict of
   * `ends`. chain: one after another, each given what the last one made of it, until one does not pass.
   */
  readonly order: 'parallel' | 'serial' | 'chain';
  readonly ends?: readonly Verdict[];
  /** Whether answers count. Where they do not, the hooks only observe. */
  readonly isFilter: boolean;
  /** Whether observers are called one after another and waited for, as their own system does. */
  readonly isAwaited?: boolean;
  readonly composition: Composition;
}

/** An event at one point: the payload that hooks get, and the context it happened in. */
export interface Question {
  readonly point: string;
  readonly payload: Payload;
  readonly hookContext: HookContext;
}

/** A foreign dialect as pure functions. `Settings` are the settings of its config entries. */
export interface ForeignDialect<Settings = unknown> {
  readonly name: string;
  readonly points: Readonly<Record<string, Point>>;
  /**
   * Whether hooks keep their position in the file, between hooks of other dialects; else they run as one
   * group.
   */
  readonly keepsFileOrder?: boolean;
  /** The tool name that payloads carry, given its own name and its aliases; absent: its own name. */
  toolNameForHooks?(tool: string, aliases?: readonly string[]): string;
  /** In which order the tool calls of one round run when hooks of this dialect see them. */
  readonly callOrder: 'judged' | 'judged_first' | 'one_by_one';
  /** Whether hooks read the transcript file, which is then written before they are called. */
  readonly readsTranscript: boolean;
  /** Whether session-start hooks fire again when a session is resumed in another process. */
  readonly firesStartOnResume?: boolean;
  /** Whether forced continuations are counted consecutively, rather than over the whole turn. */
  readonly countsForcedTurnsInARow?: boolean;
  /** Whether prompt hooks also fire for the prompts with which the loop itself continues a turn. */
  readonly firesOnLoopPrompts?: boolean;
  /** The reason of the denial when a hook asks and nobody can approve; absent: the call stays pending. */
  readonly noApproverReason?: string;
  /** The longest context text in characters; a longer one is moved to a file. Absent: no limit. */
  readonly maxContextCharacters?: number;
  /** The points to fire for an event of a pipeline, in order. */
  pointsAt(event: HookEvent): readonly string[];
  describe(point: string, event: HookEvent, hookContext: HookContext): Payload;
  /** A payload from the host, with defaults filled in. Throws EVENT_INVALID. */
  complete(point: string, payload: Payload, hookContext: HookContext): Payload;
  /** Whether the hook is registered for the event and its matchers match. */
  selects(entry: HookEntry<Settings>, question: Question): boolean;
  /**
   * Whether the hook runs in the background: nobody waits, and only `context` of its answer counts, later.
   */
  isBackground(entry: HookEntry<Settings>, point: string): boolean;
  /** The answer of a hook that needs no process; undefined for all others. */
  staticAnswer(entry: HookEntry<Settings>, question: Question): Answer | undefined;
  encode(entry: HookEntry<Settings>, question: Question): Message;
  /**
   * Decodes a hook's reply, or the fault in its place
   * (PROCESS_TIMEOUT, PROCESS_START, SERVER_EXIT, …).
   * Never lets a failure pass without `failed_open` in
   * the metadata. Members of `replace` have the dialect's own names, but
   * `args`, `content`, `messages` and `name`.
   */
  decode(entry: HookEntry<Settings>, question: Question, reply: Reply | RuntimeError): Decoded<Answer>;
  /**
   * Adjusts the composed answer where merging member by member does not suffice (aggregates, stricter
   * verdicts). `selected` counts all hooks that matched, also those not called because an earlier answer
   * ended the chain.
   */
  conclude?(
    question: Question,
    hookAnswers: readonly HookAnswer[],
    composed: Composed,
    selected?: number,
  ): Composed;
  /** The payload as the next hook of a chain sees it. */
  nextPayload(question: Question, answer: Answer): Payload;
  /**
   * The composed answer in neutral form: `replace` with the members of the event's phase (see
   * contract/hook.ts), and each `context` text wrapped as the model is to read it. Throws REPLY_MALFORMED.
   */
  toNeutralAnswer(event: HookEvent, question: Question, answer: Answer): Answer;
  /** Wraps a late context text of a background hook for the model; absent: the text is passed as it is. */
  wrapLateContext?(text: string): string;
  /** The data of a PluginHookFired event, if one is to be emitted. */
  report?(question: Question, outcome: HookCallOutcome): Readonly<Record<string, unknown>> | undefined;
  /** The first exchange with a new process of a hook, where its system has one. */
  handshake?(entry: HookEntry<Settings>): EntryHandshake;
}

/** The first exchange with a new process. */
export interface EntryHandshake {
  readonly message: Message;
  read(reply: Reply | RuntimeError): HandshakeResult;
}

/** Whether the process may be used; on a rejection the error has the stage in `details.stage`. */
export type HandshakeResult =
  | { readonly accepted: true; readonly notes: readonly Note[] }
  | { readonly accepted: false; readonly error: RuntimeError };

/** The outcome of calling the hooks of one point. */
export interface HookCallOutcome {
  /** How many hooks matched, whether or not all of them were called. */
  readonly selected: number;
  readonly answer: Answer;
}

interface TrialLimits {
  readonly point: string;
  readonly timeoutMs: number;
  readonly greetingMs: number;
}

/**
 * How a process ended that did not fail by the rules of every system: `silence` is exit code 0 without a word, `text` the
 * same with a word that is no JSON.
 */
export type Utterance = 'silence' | 'text' | 'exit 2';

/** What hooks of a dialect are tried with when a program that fails takes the place of their own. */
export interface Trial<Settings = unknown> {
  /** The settings of the same hook, which hears of that point, whatever its matchers say. */
  settingsAt(settings: Settings, limits: TrialLimits): Settings;
  payloadAt(point: string): Payload;
  /** What a process prints that lets the point pass, in the words of the dialect; a server gives it as its result. */
  consentAt(point: string): string;
  /** The result of the first exchange with a server; absent where there is none. */
  readonly greeting?: string;
  /** What a plugin says of itself that registers for every point; absent where none is asked. */
  readonly description?: string;
  /** The causes with which a failure of a hook passes. Source: docs/dialects.md, "What fails open". */
  readonly failsOpenBy: readonly string[];
  /** The rules by which something passes at the point that is an answer of its system, and no failure. Source: likewise. */
  passesAt(point: string): Readonly<Partial<Record<Utterance, string>>>;
}
