import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { describeAnswer } from './answer-description.ts';
import { plainMessage } from './plain-json.ts';
import { rebuildAnswer } from './rebuilt-answer.ts';

/** What a model answered. */
export type ModelAnswer = Pick<LanguageModelV4GenerateResult, 'content' | 'finishReason' | 'usage'>;

/** An answer, and the message that `fromAnswer` made of it. */
export interface SentAnswer extends Pick<ModelAnswer, 'content' | 'finishReason'> {
  readonly message: ChatMessage;
}

/**
 * A model's answer in native words: an assistant message with its whole text, its tool calls (`args` byte for
 * byte), `reasoning`, `finish_reason` and `cost_info`; `tool_results` and `sources` when there are any.
 */
export function fromAnswer({ content, finishReason, usage }: ModelAnswer): ChatMessage {
  return {
    role: 'assistant',
    ...describeAnswer(content),
    finish_reason: finishWord(finishReason),
    ...costOf(usage),
  };
}

/**
 * A replaced message as an answer of the AI SDK. The message is complete: tool calls, results, sources, files
 * and reasoning that it does not repeat are dropped. Throws REPLY_MALFORMED when it cannot be an answer.
 */
export function toAnswer(
  message: ChatMessage,
  sent?: SentAnswer,
): { readonly content: LanguageModelV4Content[]; readonly finishReason: LanguageModelV4FinishReason } {
  const old = sent?.content ?? [];
  if (sent !== undefined && isSameToTheDigit(message, sent.message)) {
    return { content: [...old], finishReason: sent.finishReason };
  }
  const plain = plainMessage(message);
  const content = rebuildAnswer(plain, old);
  return { content, finishReason: adaptFinish(finishReasonOf(plain['finish_reason'], sent), old, content) };
}

const nativeFinishWords: Readonly<Record<LanguageModelV4FinishReason['unified'], string>> = {
  stop: 'stop',
  length: 'max_output_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'safety',
  error: 'error',
  interrupted: 'interrupted',
  other: 'other',
};

/** The native word: stop, max_output_tokens, tool_use, safety, refusal, or else the provider's own. */
export function finishWord({ unified, raw }: LanguageModelV4FinishReason): string {
  if (unified === 'content-filter' && raw === 'refusal') return 'refusal';
  if (unified === 'other' && raw !== undefined && raw !== '') return raw;
  return nativeFinishWords[unified];
}

function costOf({ inputTokens, outputTokens }: LanguageModelV4Usage) {
  const cost = {
    ...(inputTokens.total !== undefined && { input_tokens: inputTokens.total }),
    ...(outputTokens.total !== undefined && { output_tokens: outputTokens.total }),
  };
  return Object.keys(cost).length === 0 ? {} : { cost_info: cost };
}

/** The finish reason of a replaced message; the sent one where it is absent or unchanged. */
function finishReasonOf(given: unknown, sent: SentAnswer | undefined): LanguageModelV4FinishReason {
  const old = sent?.finishReason ?? { unified: 'stop', raw: undefined };
  if (typeof given !== 'string' || given === finishWord(old)) return old;
  if (given === 'refusal') return { unified: 'content-filter', raw: given };
  const [unified] = unifiedReasons.filter((reason) => nativeFinishWords[reason] === given);
  return unified === undefined ? { unified: 'other', raw: given } : { unified, raw: undefined };
}

const unifiedReasons = [
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'interrupted',
  'other',
] as const;

/** Adapts the finish reason to the content: `tool-calls` with calls that the caller must run, else `stop`. */
function adaptFinish(
  finish: LanguageModelV4FinishReason,
  old: readonly LanguageModelV4Content[],
  content: readonly LanguageModelV4Content[],
): LanguageModelV4FinishReason {
  const { unified } = finish;
  if (asksForTools(content)) return unified === 'stop' ? { unified: 'tool-calls', raw: undefined } : finish;
  return unified === 'tool-calls' && asksForTools(old) ? { unified: 'stop', raw: undefined } : finish;
}

function asksForTools(content: readonly LanguageModelV4Content[]): boolean {
  return content.some((part) => part.type === 'tool-call' && part.providerExecuted !== true);
}
