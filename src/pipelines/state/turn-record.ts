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

export type LoopControl = ValueOf<typeof loopControl>;
const loopControl = object({
  fallback: optional(oneOf('call_user', 'call_agent')),
  fuel: optional(number),
  fuelDelta: optional(number),
  by: optional(text),
});

export type TurnStop = ValueOf<typeof turnStop>;
const turnStop = object({ hook: text, reason: text, isSession: flag, metadata: parsed });

/** A turn as its hooks left it before a model call. */
export type TurnRecord = ValueOf<typeof turn>;
const turn = object({
  system: text,
  prompt: text,
  /** The system prompt before the request hooks changed it. */
  baseSystem: optional(text),
  messages: eachOf(message),
  /** Whether hooks have changed more messages than the prompt. */
  isRewritten: optional(flag),
  tools: listOf(
    members<ToolListing>({ name: text, description: text, category: optional(text), input_schema: anything }),
  ),
  model: optional(text),
  options: members<ModelOptions>({ max_tokens: optional(number), temperature: optional(number) }),
  loop: loopControl,
  failures: failedOpen,
  /** Journal names of the session starts whose context is in the prompt. */
  taken: optional(listOf(text)),
  stopped: ifPresent(turnStop),
});
export const turnRecord = plainRecord('turn', turn);

export type TurnDecision = ValueOf<typeof turnDecision>;
const turnDecision = object({
  stopped: ifPresent(turnStop),
  isDenied: flag,
  failures: failedOpen,
  context: listOf(text),
  loop: loopControl,
  followUp: optional(text),
  forcedBy: ifPresent(eachOf(object({ hook: nullOr(text), dialect: text, isApproval: optional(flag) }))),
});
export const turnDecisionRecord = plainRecord('decision of hooks', turnDecision);

export type SessionStart = ValueOf<typeof sessionStart>;
const sessionStart = object({ context: listOf(text), stopped: ifPresent(turnStop) });
export const sessionStartRecord = plainRecord('start of the session', sessionStart);

/** Context for the model, and the journal names of the session starts that returned it. */
export type TakenContext = ValueOf<typeof takenContext>;
const takenContext = object({ texts: listOf(text), from: listOf(text) });
export const contextRecord = plainRecord('context', takenContext);
