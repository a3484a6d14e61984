import type { ChatMessage, ModelOptions, ToolListing } from './provider.ts';

export interface Turn {
  /** A person's newest message; empty if the turn does not begin with one. */
  readonly prompt: string;
  readonly system_prompt: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolListing[];
  readonly provider_id: string;
  readonly model: string;
  readonly options: ModelOptions;
}

export interface FinishedCall {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly call_id: string;
  readonly args: unknown;
  /** The text that the model reads. */
  readonly content: string;
}

/** The session and turn of an event: the further contents of foreign payloads. */
export interface HookContext {
  readonly session_id: string;
  /** One for each message of a person. */
  readonly turn_id: string;
  /** The time of the event, ISO 8601. */
  readonly now: string;
  /** The pipeline's name, or `main`. */
  readonly agent: string;
  /** The session's name, else the pipeline's. */
  readonly context_name: string;
  /** Model calls of the turn so far, from 1; 0 outside a turn. */
  readonly round: number;
  readonly messages: readonly ChatMessage[];
  /** The path of a file with the conversation so far, one JSON line per message; null without one. */
  readonly transcript: string | null;
  /** Remaining and total rounds of tool calls; null without a limit. */
  readonly fuel: { readonly remaining: number; readonly total: number } | null;
  /** How often hooks of the called dialect forced another model call after an answer. */
  readonly forcedTurns: number;
  /** Whether this is the last model call, after which hooks cannot force another. */
  readonly isLastRound?: boolean | undefined;
  /** How often hooks forced another model call, by dialect. */
  readonly forcedTurnsByDialect?: Readonly<Record<string, number>> | undefined;
  /** Whether the run is stored and may be resumed in another process. */
  readonly isKept?: boolean | undefined;
  /** Whether the session began in an earlier process. */
  readonly isResumed: boolean;
  /** The real path of the file that a call names; absent: unknown. */
  readonly realPath?: string | undefined;
  /** Members from the host: channel, chat_id, sender_id, … */
  readonly host: Readonly<Record<string, unknown>>;
}

export function createHookContext(session: string): HookContext {
  return {
    session_id: session,
    turn_id: `${session}-turn-1`,
    now: '1970-01-01T00:00:00Z',
    agent: 'main',
    context_name: 'main',
    round: 0,
    messages: [],
    transcript: null,
    fuel: null,
    forcedTurns: 0,
    isResumed: false,
    host: {},
  };
}
