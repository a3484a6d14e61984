import { eachOf, ifPresent, object, parsed, type ValueOf } from '../../base/json/record.ts';
import {
  anything,
  flag,
  listOf,
  members,
  nullOr,
  number,
  oneOf,
  optional,
  text,
} from '../../base/json/shape.ts';
import type { ModelOptions, ToolListing } from '../../contract/provider.ts';
import { message } from './answer-record.ts';
import { plainRecord } from './record.ts';

const failedOpen = eachOf(object({ hook: text, cause: text }));

/** How hooks control the loop of a chat. */
export type LoopControl = ValueOf<typeof loopControl>;
const loopControl = object({
  /** What follows an answer without tool calls. */
  fallback: optional(oneOf('call_user', 'call_agent')),
  fuel: optional(number),
  fuelDelta: optional(number),
  by: optional(text),
});

/** A hook ended a turn, or the session with it. */
export type TurnStop = ValueOf<typeof turnStop>;
const turnStop = object({ hook: text, reason: text, isSession: flag, metadata: parsed });

/** A turn as its hooks left it before a model call. */
export type TurnRecord = ValueOf<typeof turn>;
const turn = object({
  system: text,
  prompt: text,
  /** The system prompt before the hooks of the request phase changed it. */
  baseSystem: optional(text),
  messages: eachOf(message),
  /** Whether hooks have changed more of the messages than the prompt. */
  isRewritten: optional(flag),
  tools: listOf(
    members<ToolListing>({ name: text, description: text, category: optional(text), input_schema: anything }),
  ),
  /** Absent: the provider's own. */
  model: optional(text),
  options: members<ModelOptions>({ max_tokens: optional(number), temperature: optional(number) }),
  loop: loopControl,
  /** The hooks that failed open by the rules of their dialect. */
  failures: failedOpen,
  /** The journal names of the session starts whose context is part of the prompt. */
  taken: optional(listOf(text)),
  stopped: ifPresent(turnStop),
});
export const turnRecord = plainRecord('turn', turn);

/** What the hooks of a batch of calls, or of an answer, decided. */
export type TurnDecision = ValueOf<typeof turnDecision>;
const turnDecision = object({
  stopped: ifPresent(turnStop),
  isDenied: flag,
  failures: failedOpen,
  context: listOf(text),
  loop: loopControl,
  followUp: optional(text),
  /** The hooks that forced a further model call. */
  forcedBy: ifPresent(eachOf(object({ hook: nullOr(text), dialect: text, isApproval: optional(flag) }))),
});
export const turnDecisionRecord = plainRecord('decision of hooks', turnDecision);

/** What the hooks of a session's start or resume decided. */
export type SessionStart = ValueOf<typeof sessionStart>;
const sessionStart = object({ context: listOf(text), stopped: ifPresent(turnStop) });
export const sessionStartRecord = plainRecord('start of the session', sessionStart);

/** Context texts for the model, and the journal names of the session starts that gave them. */
export type TakenContext = ValueOf<typeof takenContext>;
const takenContext = object({ texts: listOf(text), from: listOf(text) });
export const contextRecord = plainRecord('context', takenContext);
