import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { finishWord, fromAnswer } from '../../models/messages/answer.ts';
import type { ModelAnswer } from '../state/answer-record.ts';

export interface ModelCallOptions {
  readonly options: LanguageModelV4CallOptions;
  readonly isStreamed: boolean;
  /** Receives text as the guard releases it; never called without a stream. */
  readonly onText: (text: string) => void;
}

/** Throws DENIED, PROVIDER_FAILED, PROVIDER_TIMEOUT, REPLAY_MISS, ABORTED. */
export async function callModel(
  model: LanguageModelV4,
  { options, isStreamed, onText }: ModelCallOptions,
): Promise<ModelAnswer> {
  try {
    const result = isStreamed ? await stream(model, options, onText) : await model.doGenerate(options);
    const { inputTokens, outputTokens } = result.usage;
    return {
      message: fromAnswer(result),
      finish_reason: finishWord(result.finishReason),
      usage: { input_tokens: inputTokens.total ?? null, output_tokens: outputTokens.total ?? null },
      metadata: Json.from(result.providerMetadata?.['signalbox'] ?? {}),
    };
  } catch (error) {
    throw toRuntimeError(error, 'PROVIDER_FAILED');
  }
}

type Result = Pick<LanguageModelV4GenerateResult, 'content' | 'finishReason' | 'usage' | 'providerMetadata'>;

async function stream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  onText: ModelCallOptions['onText'],
): Promise<Result> {
  const { stream: parts } = await model.doStream(options);
  const collector = createStreamCollector();
  for await (const part of parts) {
    if (part.type === 'error') throw toRuntimeError(part.error, 'PROVIDER_FAILED');
    if (part.type === 'text-delta' && part.delta !== '') onText(part.delta);
    collector.take(part);
  }
  return collector.result();
}

function createStreamCollector() {
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, { type: 'text' | 'reasoning'; text: string }>();
  let end: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  let metadata: SharedV4ProviderMetadata | undefined;
  const begin = (type: 'text' | 'reasoning', id: string) => {
    const part = { type, text: '' };
    open.set(`${type} ${id}`, part);
    content.push(part);
  };
  const add = (
    type: 'text' | 'reasoning',
    { id, delta }: { readonly id: string; readonly delta: string },
  ) => {
    const part = open.get(`${type} ${id}`);
    if (part !== undefined) part.text += delta;
  };
  return {
    take: (part: LanguageModelV4StreamPart) => {
      switch (part.type) {
        case 'text-start':
          begin('text', part.id);
          return;
        case 'reasoning-start':
          begin('reasoning', part.id);
          return;
        case 'text-delta':
          add('text', part);
          return;
        case 'reasoning-delta':
          add('reasoning', part);
          return;
        case 'tool-call':
        case 'file':
        case 'source':
        case 'tool-result':
          content.push(part);
          return;
        case 'finish':
          end = part;
          metadata = part.providerMetadata;
      }
    },
    result: (): Result => {
      if (end === undefined)
        throw new RuntimeError('PROVIDER_FAILED', 'the answer ended without a finish event');
      const { finishReason, usage } = end;
      return { content, finishReason, usage, ...(metadata && { providerMetadata: metadata }) };
    },
  };
}
