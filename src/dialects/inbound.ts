import type { RuntimeError } from '../base/errors.ts';
import { isObject, stringifyJson } from '../base/json/json.ts';
import type { DecisionDocument } from '../contract/document.ts';

export interface InboundEvent {
  readonly hook: 'provider' | 'tool' | 'session';
  readonly phase: string;
  readonly request?: unknown;
  readonly response?: unknown;
  readonly event?: unknown;
  /** The caller of a call that is about to be made. Absent: no person is asked about the event. */
  readonly caller?: AgentCaller | undefined;
}

/** Identifies the caller of a tool call. The same call from another caller is a different call. */
export interface AgentCaller {
  /** The system’s name. */
  readonly agent: string;
  /** The session’s own name, or empty. */
  readonly session: string;
  /** The agent's working directory, or empty. */
  readonly cwd: string;
}

/** The time that a person may take to decide about calls. */
export interface DecisionTime {
  /** Milliseconds for which the agent waits. 0: it does not wait. */
  readonly holdMs: number;
}

export type Told = Readonly<Record<string, unknown>>;

export interface InboundReply {
  readonly exitCode: 0 | 1 | 2;
  /** One JSON document. Undefined: nothing is printed. */
  readonly document?: Readonly<Record<string, unknown>> | undefined;
  readonly stderr: string;
}

export interface InboundQuestion {
  /** The events for the hooks of the config, until one is not allowed. Empty if there is nothing to judge. */
  readonly events: readonly InboundEvent[];
  /** The reply to the decision about that event. With exit code 0 and no document, the next event is judged. */
  toReply(decision: DecisionDocument, event: InboundEvent): InboundReply;
  /** Denies if the event can be denied, so that an internal failure lets nothing pass. */
  toFailure(error: RuntimeError): InboundReply;
}

export type Environment = Readonly<Record<string, string | undefined>>;

interface Exported {
  /**
   * The settings, or a program, with which the system runs a command in these phases, such as `tool before_execution`.
   * `words` are the command's words. The time limit in it exceeds the time for people.
   */
  settingsFor(
    words: readonly string[],
    phases: ReadonlySet<string>,
    time: DecisionTime,
    way?: WayToResident,
  ): string;
}

/** How a system can reach a process that stays, if it has more ways than a command. */
export interface WayToResident {
  /** The shell line that asks over a socket before it runs the words. Exit code 1 is a failure unless `mayReport`. */
  readonly lineOf?: (words: readonly string[], within: string, mayReport: boolean) => string;
  /** The address to which events are posted, with a bearer token in that variable. */
  readonly http?: { readonly url: string; readonly tokenVariable: string };
}

/** The inbound side of a dialect, where its system calls Signalbox: one process for each event. */
export interface Inbound extends Exported {
  /** Reads the agent's object and environment. Throws EVENT_INVALID. */
  read(told: Told, env: Environment): InboundQuestion;
  unreadable(error: RuntimeError): InboundReply;
  /** The hook's answer to a request for its schema, if the system asks. Undefined phases: all. */
  describe?(phases: ReadonlySet<string> | undefined): Readonly<Record<string, unknown>>;
}

export interface InboundServer extends Exported {
  /** Returns undefined for a message that needs no answer. Never rejects: a failure is a denial. */
  answer(message: Told, ask: AskHooks): Promise<Told | undefined>;
}

/** Calls the hooks of the config. Rejects with any code, including that of a timeout. */
export type AskHooks = (event: InboundEvent) => Promise<DecisionDocument>;

export interface ToldCall {
  readonly name: unknown;
  readonly args: unknown;
  readonly call_id: string;
  readonly aliases?: readonly string[];
}

/** A call that is about to be made. Without a caller, no person is asked about it. */
export function beforeExecution(call: ToldCall, caller?: AgentCaller): InboundEvent {
  return { hook: 'tool', phase: 'before_execution', request: call, ...(caller && { caller }) };
}

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

export function beforePrompt(agent: string, prompt: string): InboundEvent {
  const request = { provider_id: agent, messages: [{ role: 'user', content: prompt }] };
  return { hook: 'provider', phase: 'before_call', request };
}

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

export function contentOf(result: unknown): string {
  return typeof result === 'string' ? result : stringifyJson(result ?? null);
}

export function textAt(told: Told, key: string): string {
  const value = told[key];
  return typeof value === 'string' ? value : '';
}

/** The hook that did not allow the call and its reason, in one sentence for the agent's user. */
export function reasonOf({ hook, reason, result, verdict }: DecisionDocument): string {
  // The reason is a person's decision, or a pending one, and not a hook's.
  if (hook === null && reason !== '') return reason;
  const by = hook === null ? 'a person' : `"${hook}"`;
  const said = reason === '' ? `${by} has not allowed it` : `${by}: ${reason}`;
  // Only the tool itself can give its result, so the substitute is quoted.
  return verdict === 'respond' && typeof result === 'string' ? `${by} answers in its place: ${result}` : said;
}

/** The newest text after the hooks' changes. Undefined if they changed another part. */
export function changedText({ replace }: DecisionDocument): string | undefined {
  const messages: unknown = replace?.['messages'];
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : replace?.['message'];
  return isObject(last) && typeof last['content'] === 'string' ? last['content'] : undefined;
}

/**
 * The system's time limit for its hook, and the option that makes the hook answer earlier. A call whose hook is cut off
 * could pass.
 */
export function toTimeLimit({ holdMs }: DecisionTime): {
  readonly seconds: number;
  readonly within: string;
  readonly option: readonly string[];
} {
  const seconds = Math.max(USUAL_SECONDS, Math.ceil(holdMs / 1000) + HOOKS_SECONDS);
  const within = `${seconds - MARGIN_SECONDS}s`;
  return { seconds, within, option: ['--answer-within', within] };
}

const USUAL_SECONDS = 600;

/** Time for the hooks, in addition to the person's. */
const HOOKS_SECONDS = 120;

const MARGIN_SECONDS = 10;
