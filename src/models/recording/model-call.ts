import type {
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { RuntimeError } from '../../base/errors.ts';
import {
  anyMembers,
  anything,
  fits,
  keyOf,
  listOf,
  members,
  number,
  oneOf,
  optional,
  type Shape,
  shapeOf,
  text,
} from '../../base/json/shape.ts';

/** A model call as far as its answer depends on it. */
export interface ModelCallRequest {
  /** The id of its entry. */
  readonly provider: string;
  readonly model: string;
  readonly mode: 'generate' | 'stream';
  /** Prompt, tools and settings as JSON; no headers. */
  readonly request: unknown;
}

/** A model call and its outcome: one line of a recording. */
export interface RecordedCall extends ModelCallRequest {
  /** The digest of the call before its provider's secrets were taken out. */
  readonly digest: string;
  /** The recorder that wrote it, and the call's number there: calls overlap, and end in another order. */
  readonly recorder: string;
  readonly number: number;
  readonly outcome: CallOutcome;
}

export type CallOutcome =
  | { readonly kind: 'result'; readonly result: LanguageModelV4GenerateResult }
  | { readonly kind: 'parts'; readonly parts: readonly LanguageModelV4StreamPart[] }
  | { readonly kind: 'error'; readonly error: RuntimeError };

// What a recorded call has to be when it is read back: the members that whoever called the model relies on.

const finishReason = members<LanguageModelV4FinishReason>({
  unified: oneOf('stop', 'length', 'content-filter', 'tool-calls', 'interrupted', 'error', 'other'),
  raw: optional(text),
});

const tokens = optional(number);
const usage = members({
  inputTokens: members({ total: tokens, noCache: tokens, cacheRead: tokens, cacheWrite: tokens }),
  outputTokens: members({ total: tokens, text: tokens, reasoning: tokens }),
});

/** The members of a part of an answer or a stream that are texts, by its type. */
const partTexts: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  file: ['mediaType'],
  'reasoning-file': ['mediaType'],
  'tool-call': ['toolCallId', 'toolName', 'input'],
  'tool-result': ['toolCallId', 'toolName'],
  'tool-approval-request': ['approvalId', 'toolCallId'],
  source: ['sourceType', 'id'],
  'text-start': ['id'],
  'text-delta': ['id', 'delta'],
  'text-end': ['id'],
  'reasoning-start': ['id'],
  'reasoning-delta': ['id', 'delta'],
  'reasoning-end': ['id'],
  'tool-input-start': ['id', 'toolName'],
  'tool-input-delta': ['id', 'delta'],
  'tool-input-end': ['id'],
};

const partShapes: ReadonlyMap<string, Shape<object>> = new Map<string, Shape<object>>([
  ...Object.entries(partTexts).map(([type, keys]) => [type, members(textsOf(keys))] as const),
  ['stream-start', members({ warnings: listOf(anyMembers) })],
  ['finish', members({ finishReason, usage })],
]);

function textsOf(keys: readonly string[]): Readonly<Record<string, Shape<string>>> {
  return Object.fromEntries(keys.map((key) => [key, text]));
}

/** A part with what its type asks for; of a type that is unknown here nothing else is. */
const part: Shape<{ readonly type: string }> = {
  misfit: (value) => {
    const misfit = members({ type: text }).misfit(value);
    const type = typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';
    return misfit ?? partShapes.get(type)?.misfit(value);
  },
};

const result = members({ content: listOf(part), finishReason, usage, warnings: listOf(anyMembers) });
const outcomes: Readonly<Record<CallOutcome['kind'], Shape<object>>> = {
  result: members({ result }),
  parts: members({ parts: listOf(part) }),
  error: members({ error: shapeOf((value): value is Error => value instanceof Error) }),
};

export const outcome: Shape<CallOutcome> = {
  misfit: (value) => {
    const kind = members({ kind: keyOf(outcomes) });
    return fits(kind, value) ? outcomes[value.kind].misfit(value) : kind.misfit(value);
  },
};

export const callShape = members<RecordedCall>({
  provider: text,
  model: text,
  mode: oneOf('generate', 'stream'),
  request: anything,
  recorder: text,
  number,
  digest: text,
  outcome,
});
