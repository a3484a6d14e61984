import type { Fault } from '../../base/errors.ts';
import { sumOf } from '../../base/json/decimal.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import type { EvalContext, EvalToolCall } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { ModelAnswer } from '../state/answer-record.ts';

/** A count is null, and `cost_usd` absent, if any call did not report it. */
export type CallUsage = ModelAnswer['usage'] & Pick<ModelAnswer, 'cost_usd'>;

/** Unknown if any call is unknown, since a partial sum could hide an exceeded budget. */
export function sumUsage(calls: readonly CallUsage[]): CallUsage {
  const cost = sum(calls.map(({ cost_usd }) => cost_usd ?? null));
  return {
    input_tokens: sum(calls.map(({ input_tokens }) => input_tokens)),
    output_tokens: sum(calls.map(({ output_tokens }) => output_tokens)),
    ...(cost !== null && calls.length > 0 && { cost_usd: cost }),
  };
}

export interface AnsweredChat {
  readonly messages: readonly ChatMessage[];
  /** `index` counts among the messages of this chat. */
  readonly toolCalls: readonly EvalToolCall[];
  readonly usage: readonly CallUsage[];
  readonly provider: string;
  readonly model: string | undefined;
}

/** `latencyMs`: from the first model call to the answer. Measures that are unknown or differ are absent. */
export function evalContextOf(chats: readonly AnsweredChat[], latencyMs?: number): ConversationContext {
  const messages: ChatMessage[] = [];
  const calls: EvalToolCall[] = [];
  for (const chat of chats) {
    calls.push(...chat.toolCalls.map((call) => ({ ...call, index: messages.length + call.index })));
    messages.push(...chat.messages);
  }
  const usage = chats.flatMap((chat) => chat.usage);
  const provider = common(chats.map((chat) => chat.provider));
  const model = common(chats.flatMap((chat) => chat.model ?? []));
  const metadata = chats.length === 0 ? {} : measuresOf(usage, { latency_ms: latencyMs, provider, model });
  return { messages, tool_calls: calls, metadata };
}

type ConversationContext = Pick<EvalContext, 'messages' | 'tool_calls' | 'metadata'>;

function measuresOf(
  usage: readonly CallUsage[],
  more: Readonly<Record<string, number | string | undefined>>,
): Readonly<Record<string, unknown>> {
  const { input_tokens: input, output_tokens: output, cost_usd } = sumUsage(usage);
  return {
    ...(input !== null && { input_tokens: input }),
    ...(output !== null && { output_tokens: output }),
    ...(input !== null && output !== null && { total_tokens: input + output }),
    ...(cost_usd !== undefined && { cost_usd }),
    ...omitUndefined(more),
  };
}

function common(words: readonly string[]): string | undefined {
  const [word, other] = [...new Set(words)];
  return other === undefined ? word : undefined;
}

/** One entry of unknown counts if the model may have worked, else none. */
export function usageOfFailedCall({ code, details }: Fault): readonly CallUsage[] {
  const isUnknown =
    code === 'PROVIDER_TIMEOUT' ||
    // An HTTP status means that the API refused the request before the model worked.
    (code === 'PROVIDER_FAILED' && details?.['status'] === undefined) ||
    (code === 'DENIED' && details?.['phase'] === 'after_call');
  return isUnknown ? [{ input_tokens: null, output_tokens: null }] : [];
}

function sum(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length < counts.length ? null : sumOf(known);
}
