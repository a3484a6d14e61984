import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { RuntimeError } from '../../base/errors.ts';
import { sleep } from '../../base/time/deadline.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { fromPrompt, roundOf } from '../messages/prompt.ts';
import { createProviderError } from '../provider-error.ts';
import { createModel } from '../wrapped-model.ts';
import { type MockAnswer, type MockResponse, openScript } from './mock-script.ts';

/**
 * Answers with the first unused response whose `when` is true; the last one repeats. Each model counts its used
 * responses. Throws PROVIDER_UNUSABLE; its calls throw PROVIDER_FAILED.
 */
export function openMockModel(config: ProviderConfig): LanguageModelV4 {
  const respond = createScript(config);
  const about = { provider: 'mock', modelId: config.model, supportedUrls: {} };
  return createModel(about, {
    doGenerate: async (options) => {
      const { result, response } = respond(options);
      await pause(response.delayMs, options.abortSignal);
      if (response.error) throw createProviderError(config.id, response.error);
      return result;
    },
    doStream: async (options) => {
      const { result, response, chunks } = respond(options);
      const failure = response.error && createProviderError(config.id, response.error);
      const wait = () => pause(response.delayMs, options.abortSignal);
      if (failure && chunks.length === 0) {
        await wait();
        throw failure;
      }
      return { stream: ReadableStream.from(streamMockAnswer(result, { chunks, wait, failure })) };
    },
  });
}

interface ScriptedResponse {
  readonly response: MockResponse;
  readonly result: LanguageModelV4GenerateResult;
  readonly chunks: readonly string[];
}

function createScript(config: ProviderConfig): (options: LanguageModelV4CallOptions) => ScriptedResponse {
  const next = openScript(config);
  return (options) => {
    const { response, answer } = next(scopeOf(options));
    return {
      response,
      result: toResult(config.model, { response, answer, options }),
      chunks: answer.chunks,
    };
  };
}

function scopeOf({ prompt, tools }: LanguageModelV4CallOptions) {
  const { messages, system_prompt } = fromPrompt(prompt);
  const names = (tools ?? []).map(({ name }) => name);
  return { messages, round: roundOf(prompt), system: system_prompt, tools: names };
}

interface AnswerInput {
  readonly response: MockResponse;
  readonly answer: MockAnswer;
  readonly options: LanguageModelV4CallOptions;
}

function toResult(
  modelId: string,
  { response, answer, options }: AnswerInput,
): LanguageModelV4GenerateResult {
  const text = answer.chunks.join('');
  const turn = countAnswers(options.prompt) + 1;
  const reason = response.finishReason ?? (answer.calls.length > 0 ? 'tool-calls' : 'stop');
  const { input, output } = response.usage;
  return {
    content: [
      ...(answer.chunks.length > 0 ? [{ type: 'text' as const, text }] : []),
      ...answer.calls.map((call, position) => ({
        type: 'tool-call' as const,
        toolCallId: call.id ?? `call_${turn}_${position + 1}`,
        toolName: call.name,
        input: call.input,
      })),
    ],
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
    warnings: [],
    response: { modelId },
  };
}

/** Counts the whole conversation, so that no two answers have the same call ids. */
function countAnswers(prompt: LanguageModelV4Prompt): number {
  return prompt.filter(({ role }) => role === 'assistant').length;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms > 0) await sleep(ms, signal);
  signal?.throwIfAborted();
}

interface StreamOptions {
  readonly chunks: readonly string[];
  readonly wait: () => Promise<void>;
  readonly failure: RuntimeError | undefined;
}

async function* streamMockAnswer(
  result: LanguageModelV4GenerateResult,
  { chunks, wait, failure }: StreamOptions,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: result.warnings };
  yield { type: 'response-metadata', ...result.response };
  yield* streamText(chunks, wait);
  if (failure) {
    yield { type: 'error', error: failure };
    return;
  }
  for (const part of result.content) {
    if (part.type !== 'tool-call') continue;
    yield* streamInput(part.toolCallId, { ...part, wait });
    yield part;
  }
  if (chunks.length === 0 && result.content.length === 0) await wait();
  yield { type: 'finish', finishReason: result.finishReason, usage: result.usage };
}

async function* streamText(
  chunks: readonly string[],
  wait: StreamOptions['wait'],
): AsyncGenerator<LanguageModelV4StreamPart> {
  const id = '0';
  for (const [index, delta] of chunks.entries()) {
    await wait();
    if (index === 0) yield { type: 'text-start', id };
    yield { type: 'text-delta', id, delta };
  }
  if (chunks.length > 0) yield { type: 'text-end', id };
}

interface ToolInput {
  readonly toolName: string;
  readonly input: string;
  readonly wait: StreamOptions['wait'];
}

async function* streamInput(
  id: string,
  { toolName, input, wait }: ToolInput,
): AsyncGenerator<LanguageModelV4StreamPart> {
  for (const [index, delta] of (input.match(/.{1,16}/gsu) ?? []).entries()) {
    await wait();
    if (index === 0) yield { type: 'tool-input-start', id, toolName };
    yield { type: 'tool-input-delta', id, delta };
  }
  yield { type: 'tool-input-end', id };
}
