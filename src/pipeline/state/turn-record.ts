import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { FailedOpen } from '../../dialects/metadata.ts';
import { parseMessage } from '../../hooks/message.ts';
import type { Json } from '../../json/json.ts';
import { exactMembers, requireMember } from '../../json/members.ts';
import { scanElements } from '../../json/scan.ts';

/** What hooks want of a chat's loop. */
export interface Loop {
  /** What follows an answer without tool calls. */
  readonly fallback?: 'call_user' | 'call_agent';
  /** Model calls that are left. */
  readonly fuel?: number;
  readonly fuelDelta?: number;
  /** The hook that said so. */
  readonly by?: string;
}

/** A hook ended a turn, or the session with it. */
export interface Stopped {
  readonly hook: string;
  readonly reason: string;
  readonly isSession: boolean;
  readonly metadata: unknown;
}

/** A turn as its hooks left it before the first model call. */
export interface KeptTurn {
  readonly system: string;
  readonly prompt: string;
  /** The same before hooks of the whole request changed it. */
  readonly baseSystem?: string;
  readonly messages: readonly ChatMessage[];
  /** Whether hooks have changed more of the messages than the prompt. */
  readonly isRewritten?: boolean;
  readonly tools: readonly ToolListing[];
  /** Undefined: the provider's own. */
  readonly model: string | undefined;
  readonly options: ModelOptions;
  readonly loop: Loop;
  /** What failed, and passed by the rules of its dialect. */
  readonly failures: readonly FailedOpen[];
  /** The beginnings of the session whose context is part of it. */
  readonly taken?: readonly string[];
  readonly stopped?: Stopped;
}

/** A turn from the journal, the bytes of its messages included. */
export function readKeptTurn(entry: Json): KeptTurn {
  const { text } = requireMember(exactMembers(entry), 'messages');
  const messages = scanElements(text).map(({ start, end }) => parseMessage(text.slice(start, end)));
  // All other members are what `beginTurn` wrote.
  const plain = entry.value as Omit<KeptTurn, 'messages'>;
  return { ...plain, model: plain.model, messages };
}
