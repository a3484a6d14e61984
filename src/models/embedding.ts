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
  /** How many the API counts; undefined where it does not tell. */
  readonly tokens: number | undefined;
  readonly warnings?: SharedV4Warning[];
}

export type EmbedTexts = (texts: readonly string[], signal: AbortSignal | undefined) => Promise<Embedded>;

/** Where vectors stand in the metadata of an answer, and what tells a call for them from others. */
const KEY = 'embedding';

/**
 * A call for embeddings in the form of a model call, so that hooks, limits, budgets, recordings and caches hold for it as for
 * any: each text is a message of the user, as in the gateway.
 */
export function toEmbeddingCall(
  texts: readonly string[],
  signal: AbortSignal | undefined,
): LanguageModelV4CallOptions {
  return {
    prompt: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    // There is no answer in words.
    maxOutputTokens: 0,
    providerOptions: { [KEY]: {} },
    ...(signal && { abortSignal: signal }),
  };
}

/** The texts of such a call. Throws REPLY_MALFORMED for what hooks have made into another one. */
function textsOf({ prompt }: LanguageModelV4CallOptions): string[] {
  return prompt.map(({ role, content }) => {
    const [part, other] = role === 'user' ? content : [];
    if (part?.type === 'text' && other === undefined) return part.text;
    throw new RuntimeError('REPLY_MALFORMED', 'what is to be embedded is no list of texts');
  });
}

/** A model that gives vectors to such calls; those that are none fail. Throws PROVIDER_FAILED. */
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

/**
 * What the answer to such a call holds. Throws DENIED where a hook has answered in the model's place, and PROVIDER_FAILED for
 * what is no vector, as in a recording that somebody has edited.
 */
export function readEmbedded(
  { content, providerMetadata, usage, warnings }: LanguageModelV4GenerateResult,
  asked: { readonly count: number; readonly provider: string },
): Embedded {
  const vectors: unknown = providerMetadata?.[KEY]?.['vectors'];
  if (content.length > 0 || vectors === undefined) {
    throw new RuntimeError('DENIED', 'a hook has answered in the place of the embedding model', {
      hint: 'Its answer is no vector. Let the hook pass calls of the provider, by `match`.',
    });
  }
  return { vectors: requireVectors(vectors, asked), tokens: usage.inputTokens.total, warnings };
}

/** The value as that many vectors of one length, each of finite numbers. Throws PROVIDER_FAILED. */
export function requireVectors(
  value: unknown,
  { count, provider }: { readonly count: number; readonly provider: string },
): number[][] {
  const problem = findProblem(value, count);
  if (problem === undefined && isVectors(value)) return value;
  throw createProviderError(provider, { message: `its answer ${problem}`, retryable: false });
}

function findProblem(value: unknown, count: number): string | undefined {
  if (!Array.isArray(value)) return 'is no list of embeddings';
  if (value.length !== count)
    return `has ${formatCount(value.length, 'embedding')} for ${formatCount(count, 'text')}`;
  const strange = value.findIndex((vector) => !isVector(vector));
  if (strange !== -1) return `has an embedding that is no list of numbers, at ${strange}`;
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

/** The vectors that the models of a runtime have given, by model and text. */
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

/** Some five thousand vectors of the usual 1,536 numbers. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * An embedding model that is asked for each text by itself, and for none that it has given a vector before: what stands together
 * in a call differs from run to run, and would be found in no recording and no cache.
 */
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
      // Whoever asked may have been given up, or had no budget left.
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

/** Throws what the first that failed has thrown. */
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

/** A text has one vector: none is drawn anew for each epoch, nor for being asked for again. */
function asNoDraw(
  work: () => PromiseLike<LanguageModelV4GenerateResult>,
): PromiseLike<LanguageModelV4GenerateResult> {
  const scope = currentCallScope();
  return scope === undefined ? work() : inCallScope({ ...scope, epoch: 0, asked: new Map() }, work);
}

/**
 * An embedding model that is only asked for these texts. Throws DENIED where hooks have changed one: the vector would be that of
 * another text, and two texts that are both replaced by the same words would count as the same.
 */
export function requireTexts(model: LanguageModelV4, texts: readonly string[]): LanguageModelV4 {
  return createModel(model, {
    doStream: model.doStream,
    doGenerate: async (options) => {
      const sent = textsOf(options);
      if (sent.length !== texts.length || sent.some((text, index) => text !== texts[index])) {
        throw new RuntimeError('DENIED', 'a hook has changed a text that is to be embedded', {
          hint: 'Its embedding would be that of another text. Redact what is judged before, or let the hook deny, or pass calls of the provider by `match`.',
        });
      }
      return await model.doGenerate(options);
    },
  });
}

/**
 * Calls a tool with `{"texts": […]}` and reads its `{"embeddings": [[…], …]}`. Throws PROVIDER_FAILED for a tool that fails, and
 * DENIED where hooks stop the call.
 */
export type EmbedByTool = (asked: {
  readonly provider: string;
  readonly tool: string;
  readonly texts: readonly string[];
  readonly signal: AbortSignal | undefined;
}) => Promise<Embedded>;
