import type { ChatMessage, ModelOptions, ToolListing } from './provider.ts';

/** A turn of a conversation as it stands. */
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

/** Where an event happens: what foreign payloads tell of beside the event itself. */
export interface Scene {
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
  /** How often hooks of the dialect that is asked have made the turn go on after its answer. */
  readonly stops: number;
  /** No model call comes after this one, whatever hooks want. */
  readonly isLastRound?: boolean | undefined;
  /** The same by dialect. */
  readonly forces?: Readonly<Record<string, number>> | undefined;
  /** Whether the conversation is kept, and may go on in another process. */
  readonly isKept?: boolean | undefined;
  /** Whether the session began in an earlier process. */
  readonly isResumed: boolean;
  /** Where the file that a call names really lies, all links followed; absent: not known. */
  readonly realPath?: string | undefined;
  /** What the host says of its own: channel, chat_id, sender_id, … */
  readonly host: Readonly<Record<string, unknown>>;
}

/** A scene about which nothing is known but the session. */
export function bareScene(session: string): Scene {
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
    stops: 0,
    isResumed: false,
    host: {},
  };
}
