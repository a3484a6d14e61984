import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
} from '@ai-sdk/provider';
import { RuntimeError } from '../../base/errors.ts';
import { abortedError } from '../../base/time/deadline.ts';
import { whenAborted } from '../../base/time/when-aborted.ts';
import { createModel } from '../wrapped-model.ts';
import { readEmbedded, textsOf, toEmbeddingCall, toResult } from './embedding-call.ts';

interface Waiting {
  readonly options: LanguageModelV4CallOptions;
  readonly text: string;
  readonly resolve: (result: LanguageModelV4GenerateResult) => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * An embedding model whose calls for one text each go to the API together, as many as begin at once. A call that the API refuses for
 * what stands in it is made again text by text, so that one text does not fail the others.
 */
export function batchTexts(model: LanguageModelV4, provider: string, most: number): LanguageModelV4 {
  let waiting: Waiting[] = [];
  const flush = () => {
    const [now, later] = splitBatch(waiting, Math.min(most, MAX_TEXTS));
    waiting = later;
    if (later.length > 0) setImmediate(flush);
    void (now.length === 1 ? askAlone(model, now) : askTogether(model, now, provider));
  };
  return createModel(model, {
    doStream: model.doStream,
    doGenerate: async (options) => {
      const [text, other] = textsOf(options);
      if (text === undefined || other !== undefined) return await model.doGenerate(options);
      const { promise, resolve, reject } = Promise.withResolvers<LanguageModelV4GenerateResult>();
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ options, text, resolve, reject });
      return await promise;
    },
  });
}

/** What an API takes in one request at most is rarely less; OpenAI allows 300,000 tokens. */
const MAX_TEXTS = 64;
const MAX_CHARACTERS = 200_000;

function splitBatch(waiting: readonly Waiting[], most: number): [Waiting[], Waiting[]] {
  let characters = 0;
  const end = waiting.findIndex(({ text }, index) => {
    characters += text.length;
    return index > 0 && (index >= most || characters > MAX_CHARACTERS);
  });
  return end === -1 ? [[...waiting], []] : [waiting.slice(0, end), waiting.slice(end)];
}

async function askAlone(model: LanguageModelV4, batch: readonly Waiting[]): Promise<void> {
  const asked = batch.map(async ({ options, resolve, reject }) => {
    await Promise.resolve(model.doGenerate(options)).then(resolve, reject);
  });
  await Promise.all(asked);
}

async function askTogether(
  model: LanguageModelV4,
  batch: readonly Waiting[],
  provider: string,
): Promise<void> {
  const { signal, end } = endWithAll(batch, provider);
  try {
    const texts = batch.map(({ text }) => text);
    const [first] = batch;
    const options = { ...first?.options, ...toEmbeddingCall(texts, signal) };
    const result = await model.doGenerate(options);
    const { vectors, tokens } = readEmbedded(result, { count: texts.length, provider });
    const shares = shareOut(tokens, texts);
    for (const [index, { resolve }] of batch.entries()) {
      const one = { vectors: vectors.slice(index, index + 1), tokens: shares[index] };
      resolve(toResult({ ...one, warnings: result.warnings }, model.modelId));
    }
  } catch (thrown) {
    if (isRefused(thrown)) await askAlone(model, batch);
    else for (const { reject } of batch) reject(thrown);
  } finally {
    end();
  }
}

/** A signal that is aborted once every caller has given up, each of whom is told at once. */
function endWithAll(
  batch: readonly Waiting[],
  provider: string,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  let callers = batch.length;
  const forget = batch.map(({ options: { abortSignal }, reject }) => {
    if (abortSignal === undefined) return () => {};
    const leave = () => {
      reject(abortedError(provider, abortSignal));
      callers -= 1;
      if (callers === 0) controller.abort(abortSignal.reason);
    };
    if (!abortSignal.aborted) return whenAborted(abortSignal, leave);
    leave();
    return () => {};
  });
  return {
    signal: controller.signal,
    end: () => {
      for (const each of forget) each();
    },
  };
}

/** By their lengths, in whole tokens that add up. */
function shareOut(tokens: number | undefined, texts: readonly string[]): (number | undefined)[] {
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  let seen = 0;
  let given = 0;
  return texts.map(({ length }) => {
    if (tokens === undefined) return undefined;
    seen += length;
    const share = Math.round((tokens * seen) / Math.max(1, total)) - given;
    given += share;
    return share;
  });
}

/** Whether the API has judged what stands in the request, rather than who asks or when. */
function isRefused(thrown: unknown): boolean {
  const status = thrown instanceof RuntimeError ? thrown.details['status'] : undefined;
  return status === 400 || status === 413 || status === 422;
}
