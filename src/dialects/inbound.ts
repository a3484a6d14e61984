import type { RuntimeError } from '../base/errors.ts';
import { isObject, stringifyJson } from '../base/json/json.ts';
import type { DecisionDocument } from '../contract/document.ts';

/** An event of native hooks, as it is fired. */
export interface InboundEvent {
  readonly hook: 'provider' | 'tool' | 'session';
  readonly phase: string;
  readonly request?: unknown;
  readonly response?: unknown;
  readonly event?: unknown;
  /** Of a call that is about to be made: whose it is. Absent: no person is asked about the event. */
  readonly caller?: AgentCaller | undefined;
}

/** Who makes a call: calls of another caller are other calls. */
export interface AgentCaller {
  /** The system’s name. */
  readonly agent: string;
  /** The session’s own name; empty where the agent tells none. */
  readonly session: string;
  /** The folder in which the agent works, as it tells it; empty where it does not. */
  readonly cwd: string;
}

/** How long a person may take to decide about calls. */
export interface DecisionTime {
  /** Milliseconds for which the agent waits; 0: it does not. */
  readonly holdMs: number;
}

/** What an agent has written to stdin, one JSON object. */
export type Told = Readonly<Record<string, unknown>>;

/** What the agent reads of its hook. */
export interface InboundReply {
  readonly exitCode: 0 | 1 | 2;
  /** One JSON document; undefined: nothing is printed. */
  readonly document?: Readonly<Record<string, unknown>> | undefined;
  /** One line for the agent or its user; empty for none. */
  readonly stderr: string;
}

/** One event of an agent that has Signalbox for a hook. */
export interface InboundQuestion {
  /** What the hooks of the config are asked, until one of them is not allowed; empty where there is nothing to judge. */
  readonly events: readonly InboundEvent[];
  /** The reply to the decision about that event. One with exit code 0 and no document says nothing: the next event is judged. */
  toReply(decision: DecisionDocument, event: InboundEvent): InboundReply;
  /** Denies where the event can be denied: nothing passes because something here has failed. */
  toFailure(error: RuntimeError): InboundReply;
}

export type Environment = Readonly<Record<string, string | undefined>>;

interface Exported {
  /**
   * The text by which the system runs a command, whose words these are, at the moments of these phases, such as
   * `tool before_execution`: a part of its settings, or a program. Its own time limit is longer than what people may take.
   */
  settingsFor(words: readonly string[], phases: ReadonlySet<string>, time: DecisionTime): string;
}

/** The side of a dialect on which its system asks Signalbox, rather than Signalbox its hooks: one process for each event. */
export interface Inbound extends Exported {
  /** Reads what the agent has told, also by its environment. Throws EVENT_INVALID. */
  read(told: Told, env: Environment): InboundQuestion;
  /** The answer to what could not be read: a denial. */
  unreadable(error: RuntimeError): InboundReply;
  /** What the hook says of itself when it is asked for its schema, where the system asks; undefined phases: all. */
  describe?(phases: ReadonlySet<string> | undefined): Readonly<Record<string, unknown>>;
}

/** The same for a system that keeps one process, and sends it a line for each event. */
export interface InboundServer extends Exported {
  /** The answer to one message; undefined for one that needs none. Never rejects: what fails is a denial. */
  answer(message: Told, ask: AskHooks): Promise<Told | undefined>;
}

/** Asks the hooks of the config. Rejects with any code, also that of a wait that was too long. */
export type AskHooks = (event: InboundEvent) => Promise<DecisionDocument>;

/** A call of a tool, as an agent of another system tells it. */
export interface ToldCall {
  readonly name: unknown;
  readonly args: unknown;
  readonly call_id: string;
  /** Further names that the agent's system has for the tool. */
  readonly aliases?: readonly string[];
}

/** A call that is to be made; without its caller no person is asked about it. */
export function beforeExecution(call: ToldCall, caller?: AgentCaller): InboundEvent {
  return { hook: 'tool', phase: 'before_execution', request: call, ...(caller && { caller }) };
}

/** A call that was made. */
export function afterExecution(
  call: ToldCall,
  outcome: { readonly content: string } | { readonly error: string },
  latencyMs: unknown = 0,
): InboundEvent {
  const { name, call_id } = call;
  const latency_ms = typeof latencyMs === 'number' ? latencyMs : 0;
  return {
    hook: 'tool',
    phase: 'after_execution',
    request: call,
    response: { name, call_id, ...outcome, latency_ms },
  };
}

/** A text that a person has for the model. */
export function beforePrompt(agent: string, prompt: string): InboundEvent {
  const request = { provider_id: agent, messages: [{ role: 'user', content: prompt }] };
  return { hook: 'provider', phase: 'before_call', request };
}

/** A text that the model has for a person. */
export function afterAnswer(agent: string, text: string): InboundEvent {
  return {
    hook: 'provider',
    phase: 'after_call',
    request: { provider_id: agent },
    response: { message: { role: 'assistant', content: text } },
  };
}

export function ofSession(phase: 'session_start' | 'session_end', id: string): InboundEvent {
  return { hook: 'session', phase, event: { session_id: id } };
}

/** A structured result as the JSON that it is. */
export function contentOf(result: unknown): string {
  return typeof result === 'string' ? result : stringifyJson(result ?? null);
}

/** The text under that key; empty where there is none. */
export function textAt(told: Told, key: string): string {
  const value = told[key];
  return typeof value === 'string' ? value : '';
}

/** Who has not allowed it, and why, in one sentence for an agent's user. */
export function reasonOf({ hook, reason, result, verdict }: DecisionDocument): string {
  // What people have decided, or not yet, is no word of a hook.
  if (hook === null && reason !== '') return reason;
  const by = hook === null ? 'a person' : `"${hook}"`;
  const said = reason === '' ? `${by} has not allowed it` : `${by}: ${reason}`;
  // Nobody but the tool can give its result; what was answered in its place is told.
  return verdict === 'respond' && typeof result === 'string' ? `${by} answers in its place: ${result}` : said;
}

/** The newest text as the hooks have changed it; undefined where they changed another part. */
export function changedText({ replace }: DecisionDocument): string | undefined {
  const messages: unknown = replace?.['messages'];
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : replace?.['message'];
  return isObject(last) && typeof last['content'] === 'string' ? last['content'] : undefined;
}

/** The limit of a system for its hook, and the option by which the hook answers before it: what is cut off could pass. */
export function toTimeLimit({ holdMs }: DecisionTime): {
  readonly seconds: number;
  readonly option: readonly string[];
} {
  const seconds = Math.max(USUAL_SECONDS, Math.ceil(holdMs / 1000) + HOOKS_SECONDS);
  return { seconds, option: ['--answer-within', `${seconds - MARGIN_SECONDS}s`] };
}

const USUAL_SECONDS = 600;

/** What hooks may take beside the person. */
const HOOKS_SECONDS = 120;

const MARGIN_SECONDS = 10;
