import type { RuntimeError } from '../base/errors.ts';
import type { Message, Reply } from '../contract/exchange.ts';
import type { Answer, HookEvent, Verdict } from '../contract/hook.ts';
import type { HookContext } from '../contract/turn.ts';
import type { Composed, Composition, HookAnswer } from './compose.ts';
import type { Decoded, Note } from './dialect.ts';

/** The payload of a hook. Values of type `Json` keep their exact text. */
export type Payload = Readonly<Record<string, unknown>>;

export interface HookEntry<Settings> {
  readonly name: string;
  /** own: the dialect's rules apply to a failure. deny: a failure denies. */
  readonly onFailure: 'own' | 'deny';
  /** Absolute. */
  readonly cwd: string;
  /** The file that declares the hook, shown to the person who approves. */
  readonly source?: string;
  readonly settings: Settings;
}

export interface Point {
  /**
   * parallel: all at once, all to their end. serial: one after another with the same payload, until a verdict of
   * `ends`. chain: one after another, each with the payload as the previous one changed it, until one does not pass.
   */
  readonly order: 'parallel' | 'serial' | 'chain';
  readonly ends?: readonly Verdict[];
  readonly isFilter: boolean;
  /** Observers are called one after another and awaited, as in their own system. */
  readonly isAwaited?: boolean;
  readonly composition: Composition;
}

export interface Question {
  readonly point: string;
  readonly payload: Payload;
  readonly hookContext: HookContext;
}

export interface ForeignDialect<Settings = unknown> {
  readonly name: string;
  readonly points: Readonly<Record<string, Point>>;
  /** Hooks keep their position in the file, between hooks of other dialects; else they run as one group. */
  readonly keepsFileOrder?: boolean;
  /** The tool name in payloads, given its own name and its aliases. Absent: its own name. */
  toolNameForHooks?(tool: string, aliases?: readonly string[]): string;
  /** The order of one round's tool calls when hooks of this dialect see them. */
  readonly callOrder: 'judged' | 'judged_first' | 'one_by_one';
  /** Hooks read the transcript file, so it is written before they are called. */
  readonly readsTranscript: boolean;
  /** Session-start hooks fire again when a session is resumed in another process. */
  readonly firesStartOnResume?: boolean;
  /** Forced continuations are counted consecutively, rather than over the whole turn. */
  readonly countsForcedTurnsInARow?: boolean;
  /** Prompt hooks also fire for the prompts with which the loop continues a turn. */
  readonly firesOnLoopPrompts?: boolean;
  /** The denial's reason if a hook asks and nobody can approve. Absent: the call stays pending. */
  readonly noApproverReason?: string;
  /** The longest context text in characters; a longer one is moved to a file. Absent: no limit. */
  readonly maxContextCharacters?: number;
  pointsAt(event: HookEvent): readonly string[];
  describe(point: string, event: HookEvent, hookContext: HookContext): Payload;
  complete(point: string, payload: Payload, hookContext: HookContext): Payload;
  selects(entry: HookEntry<Settings>, question: Question): boolean;
  /** A background hook is not awaited. Only `context` of its answer counts, later. */
  isBackground(entry: HookEntry<Settings>, point: string): boolean;
  /** The answer of a hook that needs no process; undefined for all others. */
  staticAnswer(entry: HookEntry<Settings>, question: Question): Answer | undefined;
  encode(entry: HookEntry<Settings>, question: Question): Message;
  /**
   * Decodes a hook's reply, or the error in its place (PROCESS_TIMEOUT, PROCESS_START, SERVER_EXIT, …). Never lets a
   * failure pass without `failed_open` in the metadata. Members of `replace` have the dialect's own names, except
   * `args`, `content`, `messages` and `name`.
   */
  decode(entry: HookEntry<Settings>, question: Question, reply: Reply | RuntimeError): Decoded<Answer>;
  /**
   * Adjusts the composed answer where merging member by member does not suffice (aggregates, stricter verdicts).
   * `selected` counts all matching hooks, including those not called because an earlier answer ended the chain.
   */
  conclude?(
    question: Question,
    hookAnswers: readonly HookAnswer[],
    composed: Composed,
    selected?: number,
  ): Composed;
  nextPayload(question: Question, answer: Answer): Payload;
  /**
   * The composed answer in neutral form: `replace` with the members of the event's phase (see contract/hook.ts), and
   * each `context` text wrapped for the model. Throws REPLY_MALFORMED.
   */
  toNeutralAnswer(event: HookEvent, question: Question, answer: Answer): Answer;
  wrapLateContext?(text: string): string;
  /** The data of a PluginHookFired event. Undefined: none is emitted. */
  report?(question: Question, outcome: HookCallOutcome): Readonly<Record<string, unknown>> | undefined;
  /** The first exchange with a new process of a hook, if its system has one. */
  handshake?(entry: HookEntry<Settings>): EntryHandshake;
}

export interface EntryHandshake {
  readonly message: Message;
  read(reply: Reply | RuntimeError): HandshakeResult;
}

/** Whether the process may be used. A rejection's error has the stage in `details.stage`. */
export type HandshakeResult =
  | { readonly accepted: true; readonly notes: readonly Note[] }
  | { readonly accepted: false; readonly error: RuntimeError };

export interface HookCallOutcome {
  readonly selected: number;
  readonly answer: Answer;
}

interface TrialLimits {
  readonly point: string;
  readonly timeoutMs: number;
  readonly greetingMs: number;
}

/**
 * The end of a process that is no failure in every system. `silence`: exit code 0 without output. `text`: exit code 0
 * with output that is not JSON.
 */
export type Utterance = 'silence' | 'text' | 'exit 2';

/** Data to try a dialect's hooks with: a failing program takes the place of each hook. */
export interface Trial<Settings = unknown> {
  /** The same hook's settings, registered for that point whatever its matchers say. */
  settingsAt(settings: Settings, limits: TrialLimits): Settings;
  payloadAt(point: string): Payload;
  /** An output of a process, or result of a server, that lets the point pass. */
  consentAt(point: string): string;
  readonly greeting?: string;
  /** The self-description of a plugin that registers for every point. Absent: the system asks for none. */
  readonly description?: string;
  /** The causes of failures that pass. Source: docs/reference/dialects.md, "What fails open". */
  readonly failsOpenBy: readonly string[];
  /** The rules that let something pass at the point as a valid answer of the system. Source: likewise. */
  passesAt(point: string): Readonly<Partial<Record<Utterance, string>>>;
}
