import type { ChatMessage, ModelOptions, ToolListing } from './provider.ts';

/** The current state of a turn of a conversation. */
export interface Turn {
  /** The newest message of a person; '' when the turn does not begin with one. */
  readonly prompt: string;
  readonly system_prompt: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolListing[];
  readonly provider_id: string;
  readonly model: string;
  readonly options: ModelOptions;
}

/** A tool call that has its result. */
export interface FinishedCall {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly call_id: string;
  readonly args: unknown;
  /** What the model reads of it. */
  readonly content: string;
}

/** The session and turn of an event: what foreign payloads contain besides the event itself. */
export interface HookContext {
  readonly session_id: string;
  /** One for each message of a person. */
  readonly turn_id: string;
  /** When the event happens, as ISO 8601. */
  readonly now: string;
  /** The pipeline's name, or `main`. */
  readonly agent: string;
  /** The session's name, where it has one, else the pipeline's. */
  readonly context_name: string;
  /** Model calls of the turn so far, from 1; 0 outside of a turn. */
  readonly round: number;
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  /** The path of a file with the conversation so far, one JSON line for each message; null without one. */
  readonly transcript: string | null;
  /** Rounds of tool calls that are left and that there were; null without a limit. */
  readonly fuel: { readonly remaining: number; readonly total: number } | null;
  /** How often hooks of the asked dialect have forced a further model call after an answer. */
  readonly forcedTurns: number;
  /** Whether this is the last model call: hooks cannot force another. */
  readonly isLastRound?: boolean | undefined;
  /** How often hooks have forced a further model call, by dialect. */
  readonly forcedTurnsByDialect?: Readonly<Record<string, number>> | undefined;
  /** Whether the run is stored and may be resumed in another process. */
  readonly isKept?: boolean | undefined;
  /** Whether the session began in an earlier process. */
  readonly isResumed: boolean;
  /** The real path, links resolved, of the file that a call names; absent: not known. */
  readonly realPath?: string | undefined;
  /** Members that the host adds: channel, chat_id, sender_id, … */
  readonly host: Readonly<Record<string, unknown>>;
}

/** A hook context with only its session known. */
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
