import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { RuntimeError } from '../../base/errors.ts';

interface StreamOptions {
  readonly chunks: readonly string[];
  /** Called before each piece. */
  readonly wait: () => Promise<void>;
  /** Ends the stream after its text. */
  readonly failure: RuntimeError | undefined;
}

/** A mock's answer as the parts of a stream, piece by piece. */
export async function* streamMockAnswer(
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
