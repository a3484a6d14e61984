import type { ChatMessage, ModelOptions, ToolListing } from '../../contract/provider.ts';
import type { FailedOpen } from '../../dialects/metadata.ts';
import { parseMessage } from '../../hooks/message.ts';
import { exactMembers, requireMember } from '../../json/exact-members.ts';
import type { Json } from '../../json/json.ts';
import { scanElements } from '../../json/scan.ts';

/** How hooks control the loop of a chat. Stored in the journal. */
export interface LoopControl {
  /** What follows an answer without tool calls. */
  readonly fallback?: 'call_user' | 'call_agent';
  /** Model calls that are left. */
  readonly fuel?: number;
  readonly fuelDelta?: number;
  /** The hook that decided it. */
  readonly by?: string;
}

/** A hook ended a turn, or the session with it. */
export interface TurnStop {
  readonly hook: string;
  readonly reason: string;
  readonly isSession: boolean;
  readonly metadata: unknown;
}

/** A turn as its hooks left it before the first model call, as the journal stores it. */
export interface TurnRecord {
  readonly system: string;
  readonly prompt: string;
  /** The system prompt before the hooks of the request phase changed it. */
  readonly baseSystem?: string;
  readonly messages: readonly ChatMessage[];
  /** Whether hooks have changed more of the messages than the prompt. */
  readonly isRewritten?: boolean;
  readonly tools: readonly ToolListing[];
  /** Undefined: the provider's own. */
  readonly model: string | undefined;
  readonly options: ModelOptions;
  readonly loop: LoopControl;
  /** The hooks that failed open by the rules of their dialect. */
  readonly failures: readonly FailedOpen[];
  /** The journal names of the session starts whose context is part of the prompt. */
  readonly taken?: readonly string[];
  readonly stopped?: TurnStop;
}

/** A turn from the journal, the bytes of its messages included. */
export function readTurnRecord(entry: Json): TurnRecord {
  const { text } = requireMember(exactMembers(entry), 'messages');
  const messages = scanElements(text).map(({ start, end }) => parseMessage(text.slice(start, end)));
  // All other members are what `beginTurn` wrote.
  const plain = entry.value as Omit<TurnRecord, 'messages'>;
  return { ...plain, model: plain.model, messages };
}
