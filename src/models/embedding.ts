import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { LRUCache } from 'lru-cache';
import { RuntimeError } from '../base/errors.ts';
import { formatCount } from '../base/text/phrases.ts';
import { whenAborted } from '../base/time/async.ts';
import { abortedError } from '../base/time/deadline.ts';
import { currentCallScope, inCallScope } from './call-scope.ts';
import { createProviderError } from './provider-error.ts';
import { createModel } from './wrapped-model.ts';

interface Embedded {
  readonly vectors: number[][];
  readonly tokens: number | undefined;
  readonly warnings?: SharedV4Warning[];
}

export type EmbedTexts = (texts: readonly string[], signal: AbortSignal | undefined) => Promise<Embedded>;

const KEY = 'embedding';

/** A model call whose user messages are the texts, so that hooks, limits, budgets, recordings and caches apply. */
export function toEmbeddingCall(
  texts: readonly string[],
  signal: AbortSignal | undefined,
): LanguageModelV4CallOptions {
  return {
    prompt: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    maxOutputTokens: 0,
    providerOptions: { [KEY]: {} },
    ...(signal && { abortSignal: signal }),
  };
}

function textsOf({ prompt }: LanguageModelV4CallOptions): string[] {
  return prompt.map(({ role, content }) => {
    const [part, other] = role === 'user' ? content : [];
    if (part?.type === 'text' && other === undefined) return part.text;
    throw new RuntimeError('REPLY_MALFORMED', 'the replaced request is not a list of texts to embed');
  });
}

export function createEmbeddingModel(
  about: { readonly id: string; readonly provider: string; readonly modelId: string },
  embed: EmbedTexts,
): ReturnType<typeof createModel> {
  const { id, provider, modelId } = about;
  return createModel(
    { provider, modelId, supportedUrls: {} },
    {
      doGenerate: async (options) => {
        const texts = textsOf(options);
        const embedded = await embed(texts, options.abortSignal);
        requireVectors(embedded.vectors, { count: texts.length, provider: id });
        return toResult(embedded, modelId);
      },
      doStream: async () => {
        throw new RuntimeError('INTERNAL', 'embeddings are not streamed');
      },
    },
  );
}

function toResult(
  { vectors, tokens, warnings = [] }: Embedded,
  modelId: string,
): LanguageModelV4GenerateResult {
  return {
    content: [],
    finishReason: { unified: 'stop', raw: undefined },
    usage: {
      inputTokens: { total: tokens, noCache: tokens, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 0, text: 0, reasoning: undefined },
    },
    warnings,
    providerMetadata: { [KEY]: { vectors } },
    response: { modelId },
  };
}

/** Throws DENIED if a hook has answered instead of the model, and PROVIDER_FAILED if there are no vectors. */
export function readEmbedded(
  { content, providerMetadata, usage, warnings }: LanguageModelV4GenerateResult,
  asked: { readonly count: number; readonly provider: string },
): Embedded {
  const vectors: unknown = providerMetadata?.[KEY]?.['vectors'];
  if (content.length > 0 || vectors === undefined) {
    throw new RuntimeError('DENIED', 'a hook answered instead of the embedding model', {
      hint: 'Its answer is not a vector. Exclude calls of the provider with `match` of the hook.',
    });
  }
  return { vectors: requireVectors(vectors, asked), tokens: usage.inputTokens.total, warnings };
}

export function requireVectors(
  value: unknown,
  { count, provider }: { readonly count: number; readonly provider: string },
): number[][] {
  const problem = findProblem(value, count);
  if (problem === undefined && isVectors(value)) return value;
  throw createProviderError(provider, { message: `its answer ${problem}`, retryable: false });
}

function findProblem(value: unknown, count: number): string | undefined {
  if (!Array.isArray(value)) return 'is not a list of embeddings';
  if (value.length !== count)
    return `has ${formatCount(value.length, 'embedding')} for ${formatCount(count, 'text')}`;
  const strange = value.findIndex((vector) => !isVector(vector));
  if (strange !== -1) return `has an embedding that is not a list of numbers, at ${strange}`;
  const lengths = new Set(value.map((vector: readonly number[]) => vector.length));
  if (lengths.size > 1) return `has embeddings of different lengths: ${[...lengths].join(', ')}`;
  return undefined;
}

function isVectors(value: unknown): value is number[][] {
  return Array.isArray(value) && value.every(isVector);
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => Number.isFinite(each));
}

interface Waiting {
  readonly options: LanguageModelV4CallOptions;
  readonly text: string;
  readonly resolve: (result: LanguageModelV4GenerateResult) => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * Batches calls for one text that begin at the same time. If the API rejects a batch for its content, each text is sent
 * again alone, so that one text does not fail the others.
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

/** APIs rarely accept fewer texts in one request. OpenAI allows 300,000 tokens. */
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

function isRefused(thrown: unknown): boolean {
  const status = thrown instanceof RuntimeError ? thrown.details['status'] : undefined;
  return status === 400 || status === 413 || status === 422;
}

type TextMemory = ReturnType<typeof createTextMemory>;

export function createTextMemory() {
  return {
    known: new LRUCache<string, number[]>({
      maxSize: MAX_BYTES,
      sizeCalculation: (vector, key) => vector.length * 8 + key.length * 2 + 1,
    }),
    asked: new Map<string, Promise<Embedded>>(),
  };
}

/** About five thousand vectors of the usual 1,536 numbers. */
const MAX_BYTES = 64 * 2 ** 20;

/** Sends new texts only, one by one: batches differ from run to run, so recordings and caches could not match. */
export function rememberTexts(
  model: LanguageModelV4,
  provider: string,
  { known, asked }: TextMemory,
): LanguageModelV4 {
  const ask = async (text: string, options: LanguageModelV4CallOptions): Promise<Embedded> => {
    const result = await asNoDraw(() =>
      model.doGenerate({ ...options, ...toEmbeddingCall([text], options.abortSignal) }),
    );
    return readEmbedded(result, { count: 1, provider });
  };
  const find = async (text: string, options: LanguageModelV4CallOptions): Promise<Embedded> => {
    const key = JSON.stringify([provider, model.modelId, text]);
    const vector = known.get(key);
    if (vector !== undefined) return { vectors: [vector], tokens: 0 };
    const other = asked.get(key);
    if (other !== undefined) {
      const shared = await other.catch(() => undefined);
      // The other caller may have aborted, or had no budget left.
      return shared === undefined ? await ask(text, options) : { ...shared, tokens: 0 };
    }
    const asking = ask(text, options);
    asked.set(key, asking);
    try {
      const embedded = await asking;
      for (const each of embedded.vectors) known.set(key, each);
      return embedded;
    } finally {
      asked.delete(key);
    }
  };
  return createModel(model, {
    doStream: model.doStream,
    doGenerate: async (options) => {
      const texts = textsOf(options);
      const settled = await Promise.allSettled(texts.map((text) => find(text, options)));
      return toResult(joinAll(settled), model.modelId);
    },
  });
}

function joinAll(settled: readonly PromiseSettledResult<Embedded>[]): Embedded {
  const all = settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  const isCounted = all.every(({ tokens }) => tokens !== undefined);
  return {
    vectors: all.flatMap(({ vectors }) => vectors),
    tokens: isCounted ? all.reduce((sum, { tokens = 0 }) => sum + tokens, 0) : undefined,
    warnings: all.flatMap(({ warnings = [] }) => warnings),
  };
}

/** A text has one vector, so neither epochs nor repeated calls take new samples. */
function asNoDraw(
  work: () => PromiseLike<LanguageModelV4GenerateResult>,
): PromiseLike<LanguageModelV4GenerateResult> {
  const scope = currentCallScope();
  return scope === undefined ? work() : inCallScope({ ...scope, epoch: 0, asked: new Map() }, work);
}

/**
 * Throws DENIED if hooks have changed one of the texts: its vector would be that of another text, and two texts with
 * the same replacement would count as equal.
 */
export function requireTexts(model: LanguageModelV4, texts: readonly string[]): LanguageModelV4 {
  return createModel(model, {
    doStream: model.doStream,
    doGenerate: async (options) => {
      const sent = textsOf(options);
      if (sent.length !== texts.length || sent.some((text, index) => text !== texts[index])) {
        throw new RuntimeError('DENIED', 'a hook changed a text to embed', {
          hint: 'The vector would belong to another text. Redact the text earlier, let the hook deny, or exclude calls of the provider with `match`.',
        });
      }
      return await model.doGenerate(options);
    },
  });
}

/** Calls a tool with `{"texts": […]}`. Throws PROVIDER_FAILED if the tool fails, and DENIED if hooks stop it. */
export type EmbedByTool = (asked: {
  readonly provider: string;
  readonly tool: string;
  readonly texts: readonly string[];
  readonly signal: AbortSignal | undefined;
}) => Promise<Embedded>;
