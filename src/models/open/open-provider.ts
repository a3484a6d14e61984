import { isAbsolute, join } from 'node:path';
import type {
  EmbeddingModelV4,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { providerTypes } from '../../config/provider-types.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import type { HostEnv } from '../../process/env.ts';
import { batchTexts, createEmbeddingModel, type EmbedByTool, type EmbedTexts } from '../embedding.ts';
import { createProviderError, type Peer } from '../provider-error.ts';
import type { RateQueue, StreamLimits } from '../rate/rate-queue.ts';
import type { CallRecorder } from '../recording/call-recorder.ts';
import { openRecording, type RecordingContext } from '../recording/call-replay.ts';
import { type Provider, wrapModel } from '../wrapped-model.ts';
import { type Limits, withLimits } from './call-limits.ts';
import { unusableError } from './credential.ts';
import { openHttpModel } from './http-model.ts';
import { openMockModel } from './mock-model.ts';
import { openMockEmbeddings } from './mock-script.ts';
import { type ApiAccess, type ProviderKind, providerKinds } from './provider-kinds.ts';

export function openProvider(config: ProviderConfig, context: ProviderContext): Provider {
  let opening: Promise<LanguageModelV4> | undefined;
  const model = () => {
    if (opening !== undefined) return opening;
    const attempt = openModel(config, context);
    opening = attempt;
    // Allows another attempt, since a missing key may be present then.
    attempt.catch(() => {
      opening = undefined;
    });
    return attempt;
  };
  return { id: config.id, modelName: config.model, model };
}

async function openModel(config: ProviderConfig, context: ProviderContext): Promise<LanguageModelV4> {
  requireUsable(config, context);
  const { model, peer } = await openModelSource(config, context);
  const recorded = context.recorder?.wrap(model, peer) ?? model;
  const heard = context.warn === undefined ? recorded : withWarnings(recorded, context.warn);
  return withDefaults(heard, config.defaults, context.signal);
}

/** Throws PROVIDER_UNUSABLE for a provider that the config refuses, or whose model has another role. */
function requireUsable(
  { id, refused, role }: ProviderConfig,
  { role: wanted }: Pick<ProviderContext, 'role'>,
): void {
  if (refused !== undefined) throw unusableError(id, refused);
  if (role === wanted) return;
  throw wanted === undefined
    ? unusableError(id, 'its role is embedding, so it cannot answer', 'Name a provider without that role.')
    : unusableError(
        id,
        'its role is not embedding',
        'Name a provider with `role: embedding`: a model that turns texts into vectors.',
      );
}

interface ModelSource {
  readonly model: LanguageModelV4;
  readonly peer: Peer;
}

async function openModelSource(config: ProviderConfig, context: ProviderContext): Promise<ModelSource> {
  const { id, type, role } = config;
  const peer = { id, secrets: [] };
  if (context.replay !== undefined) {
    return {
      model: (await openRecording(context.replay, context.replayContext)).model(id, config.model),
      peer,
    };
  }
  if (type === 'replay') return { model: await openReplayModel(config, context.folder), peer };
  if (role === 'embedding') return await openEmbeddings(config, context);
  if (type === 'mock') {
    const mock = withLimits(
      openMockModel(config),
      readLimits(config, 0, context.streams),
      peer,
      context.rate,
    );
    return { model: withStructuredOutput(mock, config.structuredOutput), peer };
  }
  const kind = requireKind(config);
  const limits = readLimits(config, 2, context.streams);
  const open = async (access: ApiAccess) => await kind.open(config, access);
  const opened = await openHttpModel(config, kind, { ...context, open });
  const called = toPeer(opened.peer, context);
  const limited = withLimits(opened.model, limits, called, context.rate);
  return { model: withStructuredOutput(limited, config.structuredOutput), peer: called };
}

async function openReplayModel({ id, model, additionalConfig }: ProviderConfig, folder: string) {
  const { file, provider = id, ...others } = additionalConfig;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) {
    const { hint } = suggest(unknown, ['file', 'provider'], 'keys');
    throw unusableError(id, `additional_config.${unknown}: unknown key`, hint);
  }
  if (typeof file !== 'string' || file === '')
    throw unusableError(id, 'additional_config.file: must name a recording');
  if (typeof provider !== 'string')
    throw unusableError(id, 'additional_config.provider: must be the id of a provider');
  const recording = await openRecording(isAbsolute(file) ? file : join(folder, file));
  return recording.model(provider, model);
}

function withDefaults(
  model: LanguageModelV4,
  { temperature, topP, maxTokens }: ProviderConfig['defaults'],
  signal: AbortSignal | undefined,
): LanguageModelV4 {
  return wrapModel(model, {
    transformParams: async ({ params }) => ({
      ...params,
      ...pick('temperature', params.temperature ?? temperature),
      ...pick('topP', params.topP ?? topP),
      ...pick('maxOutputTokens', params.maxOutputTokens ?? maxTokens),
      ...pick('abortSignal', eitherOf(params.abortSignal, signal)),
    }),
  });
}

function pick<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>>;
function pick(key: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [key]: value };
}

function eitherOf(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  return one !== undefined && other !== undefined ? AbortSignal.any([one, other]) : (one ?? other);
}

function withWarnings(model: LanguageModelV4, warn: (message: string) => void): LanguageModelV4 {
  const told = new Set<string>();
  const tell = (warnings: readonly SharedV4Warning[]) => {
    for (const warning of warnings) {
      const message = wordWarning(warning);
      if (message === undefined || told.has(message)) continue;
      told.add(message);
      warn(message);
    }
  };
  return wrapModel(model, {
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      tell(result.warnings);
      return result;
    },
    wrapStream: async ({ doStream }) => {
      const result = await doStream();
      const listen = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => {
          if (part.type === 'stream-start') tell(part.warnings);
          controller.enqueue(part);
        },
      });
      return { ...result, stream: result.stream.pipeThrough(listen) };
    },
  });
}

function wordWarning(warning: SharedV4Warning): string | undefined {
  if (warning.type !== 'unsupported') return undefined;
  const name = settingNames.get(warning.feature) ?? warning.feature;
  const details = warning.details === undefined ? '' : `: ${warning.details}`;
  return `its API does not support ${name}, so the call goes without it${details}`;
}

const settingNames: ReadonlyMap<string, string> = new Map([
  ['topP', 'top_p'],
  ['stopSequences', 'stop'],
  ['maxOutputTokens', 'max_tokens'],
  ['toolChoice', 'tool_choice'],
  ['responseFormat', 'output'],
]);

/** Sends a JSON Schema for the answer to an API that enforces it, else adds it to the system prompt. */
function withStructuredOutput(
  model: LanguageModelV4,
  method: ProviderConfig['structuredOutput'] = 'schema',
): LanguageModelV4 {
  return wrapModel(model, {
    transformParams: async ({ params }) => {
      const { responseFormat: format } = params;
      if (format?.type !== 'json' || !isObject(format.schema)) return params;
      if (method === 'schema' && takesSchema(format.schema, params)) return withSchema(params, format.schema);
      return withInstruction(params, format.schema, method);
    },
  });
}

type Schema = Readonly<Record<string, unknown>>;

/** APIs accept schemas of objects. Some packages send one as a tool named `json`. */
function takesSchema({ type }: Schema, { tools = [] }: LanguageModelV4CallOptions): boolean {
  return type === 'object' && tools.every(({ name }) => name !== 'json');
}

function withSchema(params: LanguageModelV4CallOptions, schema: Schema): LanguageModelV4CallOptions {
  if (isStrict(schema)) return params;
  const { providerOptions: options } = params;
  const loose = { strictJsonSchema: false };
  return {
    ...params,
    providerOptions: {
      ...options,
      openai: { ...options?.['openai'], ...loose },
      openaiCompatible: { ...options?.['openaiCompatible'], ...loose },
    },
  };
}

/**
 * OpenAI enforces a schema only if every object lists its members and requires all of them. Source:
 * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const { properties, required } = schema;
  const isObjectSchema = schema['type'] === 'object' || isObject(properties);
  const names = isObject(properties) ? Object.keys(properties) : [];
  const isClosed = schema['additionalProperties'] === false;
  const isComplete = names.every((name) => Array.isArray(required) && required.includes(name));
  if (isObjectSchema && !(isClosed && isComplete)) return false;
  if (looseKeywords.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  return Object.values(schema).every(isStrict);
}

const looseKeywords = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
];

/** APIs with a JSON mode but no schemas require the word "JSON" in the prompt. */
function withInstruction(
  { responseFormat: _, ...params }: LanguageModelV4CallOptions,
  schema: Schema,
  method: ProviderConfig['structuredOutput'],
): LanguageModelV4CallOptions {
  const words = `Answer with one JSON value that fits this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`;
  return {
    ...params,
    prompt: withSystemText(params.prompt, words),
    ...(method === 'json' && { responseFormat: { type: 'json' } }),
  };
}

function withSystemText(prompt: LanguageModelV4Prompt, text: string): LanguageModelV4Prompt {
  const [first, ...rest] = prompt;
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...prompt];
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest];
}

/** Batches calls for one text, below recordings and caches. Throws PROVIDER_UNUSABLE. */
async function openEmbeddings(
  config: ProviderConfig,
  context: ProviderContext,
): Promise<{ readonly model: LanguageModelV4; readonly peer: Peer }> {
  const { embed, peer, most, retries } = await openEmbeddingSource(config, context);
  const about = { id: config.id, provider: config.type, modelId: config.model };
  const model = createEmbeddingModel(about, embed);
  const limited = withLimits(model, readLimits(config, retries), peer, context.rate);
  return { model: batchTexts(limited, config.id, most), peer };
}

interface EmbeddingSource {
  readonly embed: EmbedTexts;
  readonly peer: Peer;
  readonly most: number;
  readonly retries: number;
}

async function openEmbeddingSource(
  config: ProviderConfig,
  context: ProviderContext,
): Promise<EmbeddingSource> {
  const { id, type, model } = config;
  const local = { peer: { id, secrets: [] }, most: Number.POSITIVE_INFINITY, retries: 0 };
  if (type === 'mock') return { ...local, embed: openMockEmbeddings(config) };
  if (type === 'tool') {
    const { embedByTool } = context;
    if (embedByTool === undefined)
      throw unusableError(id, 'its type is tool, but no tool can be called here');
    return { ...local, embed: (texts, signal) => embedByTool({ provider: id, tool: model, texts, signal }) };
  }
  const kind = requireKind(config);
  const { embed } = kind;
  if (embed === undefined) throw unusableError(id, `its type ${type} has no embeddings`);
  const open = async (access: ApiAccess) => await embed(config, access);
  const opened = await openHttpModel(config, kind, { ...context, open });
  const dimensions = readDimensions(config);
  return {
    embed: askEmbeddingModel(opened.model, { provider: id, dimensions }),
    peer: toPeer(opened.peer, context),
    most: (await opened.model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY,
    retries: 2,
  };
}

function readDimensions({ id, additionalConfig }: ProviderConfig): number | undefined {
  const { dimensions } = additionalConfig;
  if (dimensions === undefined) return undefined;
  if (typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions > 0) return dimensions;
  throw unusableError(id, 'additional_config.dimensions must be a whole number from 1 on');
}

function askEmbeddingModel(
  model: EmbeddingModelV4,
  { provider, dimensions }: { readonly provider: string; readonly dimensions: number | undefined },
): EmbedTexts {
  return async (texts, signal) => {
    const { embeddings, usage, warnings, response } = await model.doEmbed({
      values: [...texts],
      ...(dimensions !== undefined && { dimensions }),
      ...(signal && { abortSignal: signal }),
    });
    const vectors = inOrder(embeddings, response?.body, provider);
    return { vectors, tokens: usage?.tokens, warnings };
  };
}

/** OpenAI's format gives each vector an `index`, which packages do not read. Throws PROVIDER_FAILED. */
function inOrder(vectors: number[][], body: unknown, provider: string): number[][] {
  const data = isObject(body) && Array.isArray(body['data']) ? body['data'] : [];
  const places = data.map((item: unknown) => (isObject(item) ? item['index'] : undefined));
  if (places.length !== vectors.length || places.every((place) => place === undefined)) return vectors;
  const ordered: number[][] = [];
  for (const [position, place] of places.entries()) {
    const vector = vectors[position];
    const isPlace = Number.isInteger(place) && Number(place) >= 0 && Number(place) < vectors.length;
    if (vector === undefined || !isPlace || ordered[Number(place)] !== undefined) {
      const message = 'its answer does not tell which text each embedding belongs to';
      throw createProviderError(provider, { message, retryable: false });
    }
    ordered[Number(place)] = vector;
  }
  return ordered;
}

const DEFAULT_TIMEOUT_MS = 300_000;

function readLimits(config: ProviderConfig, retries: number, streams?: StreamLimits): Limits {
  const timeoutMs = config.requestTimeoutMs ?? DEFAULT_TIMEOUT_MS;
  const own = {
    retries: readCount(config, 'max_retries', { max: 10, fallback: retries }),
    retryBaseMs: readCount(config, 'retry_base_ms', { max: 60_000, fallback: 500 }),
    maxWaitMs: MAX_WAIT_MS,
  };
  const { idleMs = timeoutMs, retry } = config.streams ?? {};
  const ofStreams = retry && {
    ...{ retries: retry.retries, retryBaseMs: retry.initialDelayMs, maxWaitMs: retry.maxDelayMs },
    mayRetry: () => streams?.mayRetry() ?? true,
  };
  return { timeoutMs, idleMs, retry: own, streamRetry: ofStreams ?? own, takePlace: streams?.take };
}

const MAX_WAIT_MS = 60_000;

function readCount(
  { id, additionalConfig }: ProviderConfig,
  key: string,
  { max, fallback }: { readonly max: number; readonly fallback: number },
): number {
  const value = additionalConfig[key] ?? fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw unusableError(id, `additional_config.${key} must be a whole number from 0 to ${max}`);
}

export interface ProviderContext {
  readonly env: HostEnv;
  readonly folder: string;
  readonly recorder?: CallRecorder | undefined;
  /** A recording that answers every call. Nothing is sent, and no key is needed. */
  readonly replay?: string | undefined;
  readonly replayContext?: RecordingContext | undefined;
  readonly scrubber?: Scrubber | undefined;
  readonly rate?: RateQueue | undefined;
  readonly streams?: StreamLimits | undefined;
  readonly embedByTool?: EmbedByTool | undefined;
  readonly role?: ProviderConfig['role'] | undefined;
  readonly warn?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

function requireKind({ id, type }: ProviderConfig): ProviderKind {
  const kind = providerKinds.get(type);
  if (kind !== undefined) return kind;
  const { hint } = suggest(type, providerTypes, 'types');
  throw unusableError(id, `the type ${JSON.stringify(type)} is not known`, hint);
}

function toPeer(peer: Peer, { scrubber }: ProviderContext): Peer {
  scrubber?.add(peer.secrets);
  return { ...peer, scrub: scrubber?.text };
}
