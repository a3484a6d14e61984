import { isObject } from '../../../base/json/json.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import type { Notes, SourceFiles } from './source-files.ts';

export interface GivenProvider {
  readonly id: string;
  readonly label: string;
  readonly config: Source;
  readonly transform: Source;
  readonly at: Source;
}

export interface ProviderContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
}

/** Ids of other, unsupported APIs of the same vendors. */
const otherApis =
  /^(openai:(embeddings?|completion|assistant|image|moderation|realtime|transcription|video|agents|codex|chatkit|speech|tts)|anthropic:(completion|[a-z]+-agent-sdk)|google:(live|image|video|embedding)|\w+:(embeddings?|image|video|completion):)/;

type Mapping = Readonly<Record<string, unknown>>;

/**
 * The `spec.providers` entry and chat options. Undefined for an unknown API. `left out`, with a note, if its requests
 * might go elsewhere.
 */
export function chatProviderOf(
  given: GivenProvider,
  name: string,
  context: ProviderContext,
): { readonly entry: Mapping; readonly chat?: Mapping } | 'left out' | undefined {
  if (otherApis.test(given.id)) return undefined;
  const found = findApi(given.id);
  if (found === undefined) return undefined;
  const { key, ...entry } = found.api;
  const model = found.rest.replace(entry.base_url === undefined ? '' : /^chat:/, '');
  if (model === '') return undefined;
  const own = settingsOf(given, context);
  if (own.isElsewhere) return 'left out';
  const written = omitUndefined({
    id: name,
    model,
    ...entry,
    ...(own.base_url !== undefined && { base_url: own.base_url }),
    credential: credentialOf(given, key),
    defaults: Object.keys(own.defaults).length > 0 ? own.defaults : undefined,
    ...own.entry,
  });
  return { entry: written, ...(Object.keys(own.chat).length > 0 && { chat: own.chat }) };
}

interface Settings {
  readonly base_url: string | undefined;
  readonly defaults: Readonly<Record<string, number>>;
  readonly entry: Mapping;
  readonly chat: Mapping;
  /** Whether an unsupported setting may change the address or credentials of requests. */
  readonly isElsewhere: boolean;
}

function settingsOf({ config }: GivenProvider, { files }: ProviderContext): Settings {
  let [entry, chat, defaults]: readonly [Mapping, Mapping, Settings['defaults']] = [{}, {}, {}];
  let base: string | undefined;
  let isElsewhere = false;
  const nested = config.at('generationConfig').members();
  const plain = config
    .members()
    .filter(([key, { kind }]) => key !== 'generationConfig' || kind !== 'mapping');
  for (const [key, setting] of [...nested, ...plain]) {
    if (key === 'apiKey' || key === 'apiKeyEnvar') continue;
    const address = key === 'apiBaseUrl' ? setting.text() : undefined;
    const isAddress = address !== undefined && isCleanUrl(address);
    if (isAddress) base = address;
    const found = isAddress ? {} : settingOf(key, setting, files);
    if (found === undefined && !answerSettings.has(key)) {
      isElsewhere = true;
      setting.leave(
        `a provider with the setting \`${key}\` is left out: it could change the address of its requests`,
        'Declare it in the runtime, and name it in the subject of the suite.',
      );
    } else if (found === undefined) setting.leave(`the setting \`${key}\` of a provider is left out`);
    entry = { ...entry, ...found?.entry };
    chat = { ...chat, ...found?.chat };
    defaults = { ...defaults, ...found?.defaults };
    if (found?.warning !== undefined) setting.note('warning', found.warning);
  }
  return { base_url: base, defaults, entry, chat, isElsewhere };
}

interface FoundSetting {
  readonly defaults?: Readonly<Record<string, number>>;
  readonly chat?: Mapping;
  readonly entry?: Mapping;
  readonly warning?: string;
}

type ReadSetting = (given: Source, files: SourceFiles) => FoundSetting | undefined;

/** Returns undefined for a setting without an equivalent. */
export function settingOf(key: string, given: Source, files: SourceFiles): FoundSetting | undefined {
  return Object.hasOwn(settings, key) ? settings[key]?.(given, files) : undefined;
}

const settings: Readonly<Record<string, ReadSetting | undefined>> = {
  temperature: asDefault('temperature'),
  top_p: asDefault('top_p'),
  topP: asDefault('top_p'),
  max_tokens: asDefault('max_tokens'),
  maxTokens: asDefault('max_tokens'),
  max_output_tokens: asDefault('max_tokens'),
  maxOutputTokens: asDefault('max_tokens'),
  max_completion_tokens: asDefault('max_tokens'),
  stop: stopsOf,
  stop_sequences: stopsOf,
  stopSequences: stopsOf,
  seed: (given) => {
    const seed = given.number();
    return Number.isSafeInteger(seed) ? { chat: { seed } } : undefined;
  },
  response_format: formatOf,
  // US dollars per token.
  cost: (given) => {
    const cost = given.number();
    if (cost === undefined || cost < 0) return undefined;
    return { entry: { pricing: { input_cost_per_1k: cost * 1000, output_cost_per_1k: cost * 1000 } } };
  },
  presence_penalty: (given) => (given.number() === 0 ? {} : undefined),
  frequency_penalty: (given) => (given.number() === 0 ? {} : undefined),
  n: (given) => (given.number() === 1 ? {} : undefined),
};

/** Settings that affect only the answer. Any other setting might change where requests go. */
const answerSettings: ReadonlySet<string> = new Set([
  ...Object.keys(settings),
  ...'audio best_of functions function_call functionToolCallbacks include inputCost instructions logit_bias logprobs max_tool_calls metadata modalities outputCost parallel_tool_calls reasoning reasoning_effort reasoningEffort responseMimeType responseSchema safetySettings showThinking store systemInstruction thinking thinkingConfig tool_choice toolConfig tools top_k topK top_logprobs truncation user verbosity candidateCount'.split(
    ' ',
  ),
]);

function asDefault(name: string): ReadSetting {
  return (given) => {
    const value = given.number();
    return value === undefined ? undefined : { defaults: { [name]: value } };
  };
}

function stopsOf(given: Source): FoundSetting | undefined {
  const only = given.text();
  const stops = only === undefined ? given.texts() : [only];
  return stops !== undefined && stops.length > 0 && !stops.includes('')
    ? { chat: { stop: stops } }
    : undefined;
}

function formatOf(given: Source, files: SourceFiles): FoundSetting | undefined {
  const format = loaded(given, files);
  const type = format?.at('type').text();
  if (type === 'text') return {};
  const warning =
    'an answer that does not fit `response_format` is requested once more, and then counts as no answer; promptfoo judges it';
  if (type === 'json_object') return { chat: { output: { schema: { type: 'object' } } }, warning };
  const named = format?.at('json_schema');
  for (const key of ['name', 'strict', 'description'])
    if (named?.at(key).isGiven)
      named.at(key).leave(`\`${key}\` of a schema is left out: it changes no verdict`, undefined, 'note');
  const schema = loaded(named?.isGiven ? named.at('schema') : format?.at('schema'), files)?.mapping();
  if (type !== 'json_schema' || !isObject(schema) || schema['type'] !== 'object') return undefined;
  return { chat: { output: { schema } }, warning };
}

function loaded(given: Source | undefined, files: SourceFiles): Source | undefined {
  const name = given?.text();
  if (name?.startsWith('file://') !== true) return given;
  const found = files.open(name);
  return 'fault' in found ? undefined : found;
}

const marker = /^embeddings?:/;

export function isEmbeddingId(id: string): boolean {
  return (
    /:embeddings?(?::|$)/.test(id) ||
    /^(?:voyage|huggingface:(?:feature-extraction|sentence-similarity)):/.test(id)
  );
}

/** The `spec.providers` entry of an embedding model and its id; undefined, with a note, if it is not supported. */
export function embeddingProviderOf(
  source: Source,
): { readonly entry: Mapping; readonly label: string } | undefined {
  const id = source.text() ?? source.at('id').text();
  const found = id === undefined ? undefined : findApi(id);
  if (
    id === undefined ||
    found === undefined ||
    !marker.test(found.rest) ||
    !embeds.includes(found.api.type)
  ) {
    const named = id === undefined ? 'without an id' : `\`${id}\``;
    const hint = 'Declare a provider with `role: embedding` in the runtime, and name it in the evals.';
    source.leave(`the embeddings provider ${named} has no equivalent and is left out`, hint);
    return undefined;
  }
  const { type, base_url, key } = found.api;
  const config = source.at('config');
  const address = config.at('apiBaseUrl').text();
  const dimensions = config.at('dimensions').number();
  const isCounted = dimensions !== undefined && Number.isSafeInteger(dimensions) && dimensions > 0;
  const entry = omitUndefined({
    type,
    model: found.rest.replace(marker, ''),
    role: 'embedding',
    base_url: address ?? base_url,
    credential: credentialOf({ id, label: id, config, transform: source.at('transform'), at: source }, key),
    additional_config: isCounted ? { dimensions } : undefined,
  });
  // As with chat models, texts could go elsewhere.
  const isElsewhere = address !== undefined && !isCleanUrl(address);
  const lost = config.untaken();
  for (const each of lost)
    each.leave(
      `an embeddings provider with the setting \`${String(each.path.at(-1))}\` is left out: it could change the address of its requests`,
    );
  if (isElsewhere)
    config
      .at('apiBaseUrl')
      .leave(
        'an embeddings provider with such an address is left out: it could change the address of its requests',
      );
  if (dimensions !== undefined && !isCounted)
    config.at('dimensions').leave('the setting `dimensions` of an embeddings provider is left out');
  return lost.length > 0 || isElsewhere ? undefined : { entry, label: id };
}

const embeds = ['openai', 'openai-compatible', 'ollama', 'gemini'];

/** Rejects URLs with passwords or placeholders. */
function isCleanUrl(value: string): boolean {
  if (!URL.canParse(value) || /[{}]/.test(value)) return false;
  const { username, password, search } = new URL(value);
  return username === '' && password === '' && search === '';
}

/** Names an environment variable; never writes a key. */
function credentialOf({ config }: GivenProvider, key: string | undefined): object | undefined {
  const [given, named] = [config.at('apiKey'), config.at('apiKeyEnvar')];
  const written = given.text();
  const variable = named.text();
  const isNamed = variable !== undefined && /^\w+$/.test(variable);
  if (variable !== undefined && !isNamed)
    named.leave('it does not name an environment variable, and is left out');
  if (!given.isGiven && !isNamed) return key === undefined ? undefined : { credential_env: key };
  const read = /^(?:\$\{?(\w+)\}?|\{\{\s*env\.(\w+)\s*\}\})$/.exec(written ?? '');
  const found = isNamed ? variable : (read?.[1] ?? read?.[2] ?? key ?? 'PROMPTFOO_IMPORTED_KEY');
  if (written !== undefined && (isNamed || read === null))
    given.note('warning', `the API key is left out: set ${found} to it`);
  return { credential_env: found };
}

interface Api {
  readonly type: string;
  readonly base_url?: string;
  readonly key?: string;
  readonly additional_config?: Readonly<Record<string, unknown>>;
}

const completions = { additional_config: { api_mode: 'completions' } };

function compatible(base_url: string, key: string): Api {
  return { type: 'openai-compatible', base_url, key };
}

const apis: Readonly<Record<string, Api | undefined>> = {
  'openai:chat': { type: 'openai', ...completions },
  'openai:responses': { type: 'openai' },
  openai: { type: 'openai', ...completions },
  'anthropic:messages': { type: 'anthropic' },
  anthropic: { type: 'anthropic' },
  google: { type: 'gemini' },
  'ollama:chat': { type: 'ollama' },
  'ollama:completion': { type: 'ollama' },
  ollama: { type: 'ollama' },
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  groq: compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  mistral: compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  deepseek: compatible('https://api.deepseek.com', 'DEEPSEEK_API_KEY'),
  togetherai: compatible('https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  aimlapi: compatible('https://api.aimlapi.com/v1', 'AIML_API_KEY'),
  cerebras: compatible('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  fireworks: compatible('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  perplexity: compatible('https://api.perplexity.ai', 'PERPLEXITY_API_KEY'),
  github: compatible('https://models.github.ai/inference', 'GITHUB_TOKEN'),
  'huggingface:chat': compatible('https://router.huggingface.co/v1', 'HF_TOKEN'),
  nscale: compatible('https://inference.api.nscale.com/v1', 'NSCALE_SERVICE_TOKEN'),
  alibaba: compatible('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
  llamaapi: compatible('https://api.llama.com/compat/v1', 'LLAMA_API_KEY'),
  moonshot: compatible('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  minimax: compatible('https://api.minimax.io/v1', 'MINIMAX_API_KEY'),
  novita: compatible('https://api.novita.ai/openai/v1', 'NOVITA_API_KEY'),
  xai: compatible('https://api.x.ai/v1', 'XAI_API_KEY'),
};

function findApi(id: string): { readonly api: Api; readonly rest: string } | undefined {
  const words = id.split(':');
  const two = words.slice(0, 2).join(':');
  const prefix = Object.hasOwn(apis, two) ? two : (words[0] ?? '');
  const api = Object.hasOwn(apis, prefix) ? apis[prefix] : undefined;
  return api === undefined ? undefined : { api, rest: id.slice(prefix.length + 1) };
}
