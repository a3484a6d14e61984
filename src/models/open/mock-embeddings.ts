import { createHash } from 'node:crypto';
import { isObject } from '../../base/json/json.ts';
import { sleep } from '../../base/time/deadline.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { checkMockEmbeddings, embeddingsOf, mockEmbeddingsSchema } from '../../config/mock-embeddings.ts';
import { formatMockProblem } from '../../config/mock-responses.ts';
import type { EmbedTexts } from '../embedding/embedding-call.ts';
import { createProviderError } from '../provider-error.ts';
import { unusableError } from './credential.ts';

/**
 * The vectors of a script; a text that it does not name gets one that is always the same for it, and says nothing of what it
 * means. Throws PROVIDER_UNUSABLE; what it returns throws PROVIDER_FAILED.
 */
export function openMockEmbeddings({ id, additionalConfig }: ProviderConfig): EmbedTexts {
  const problems = checkMockEmbeddings(additionalConfig);
  if (problems.length > 0) {
    const message = problems.map((problem) => formatMockProblem(problem, mockEmbeddingsSchema)).join('; ');
    throw unusableError(id, `additional_config: ${message}`, problems.find(({ hint }) => hint)?.hint);
  }
  const entries = embeddingsOf(additionalConfig);
  const size = entries.map(({ vector }) => vector).find(Array.isArray)?.length ?? USUAL_SIZE;
  const embedOne = async (text: string, signal: AbortSignal | undefined): Promise<number[]> => {
    const entry = entries.find((each) => each['text'] === undefined || each['text'] === text);
    const { vector, error, delay_ms: delayMs } = entry ?? {};
    if (typeof delayMs === 'number' && delayMs > 0) await sleep(delayMs, signal);
    signal?.throwIfAborted();
    if (isObject(error)) throw createProviderError(id, readError(error));
    return Array.isArray(vector) ? vector.map(Number) : digestVector(text, size);
  };
  return async (texts, signal) => ({
    vectors: await Promise.all(texts.map((text) => embedOne(text, signal))),
    tokens: texts.reduce((sum, text) => sum + countTokens(text), 0),
  });
}

const USUAL_SIZE = 8;

function readError({ status, message, retry_after_ms }: Readonly<Record<string, unknown>>) {
  return {
    message: typeof message === 'string' ? message : 'scripted failure',
    ...(typeof status === 'number' && { status }),
    ...(typeof retry_after_ms === 'number' && { retryAfterMs: retry_after_ms }),
  };
}

/** Four characters each, as they mostly are. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Of length 1, and the same for the same text. */
function digestVector(text: string, size = USUAL_SIZE): number[] {
  const bytes = createHash('shake256', { outputLength: size }).update(text).digest();
  const raw = [...bytes].map((byte) => byte - 127.5);
  const length = Math.hypot(...raw);
  return raw.map((value) => value / length);
}
