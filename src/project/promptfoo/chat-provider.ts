import { isObject } from '../../json/json.ts';
import { omitUndefined } from '../../yaml/present.ts';
import type { Notes } from '../suite-import/notes.ts';
import { numberSettings, settingOf } from './chat-options.ts';
import type { GivenProvider, ProviderContext } from './provider-model.ts';

interface Api {
  readonly type: string;
  readonly base_url?: string;
  /** Where the type itself names no variable. */
  readonly key?: string;
  readonly additional_config?: Readonly<Record<string, unknown>>;
}

const completions = { additional_config: { api_mode: 'completions' } };

/** Which API the first words of an id mean. */
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
  openrouter: {
    type: 'openai-compatible',
    base_url: 'https://openrouter.ai/api/v1',
    key: 'OPENROUTER_API_KEY',
  },
  groq: { type: 'openai-compatible', base_url: 'https://api.groq.com/openai/v1', key: 'GROQ_API_KEY' },
  mistral: { type: 'openai-compatible', base_url: 'https://api.mistral.ai/v1', key: 'MISTRAL_API_KEY' },
  deepseek: { type: 'openai-compatible', base_url: 'https://api.deepseek.com', key: 'DEEPSEEK_API_KEY' },
  togetherai: { type: 'openai-compatible', base_url: 'https://api.together.xyz/v1', key: 'TOGETHER_API_KEY' },
  aimlapi: { type: 'openai-compatible', base_url: 'https://api.aimlapi.com/v1', key: 'AIML_API_KEY' },
  cerebras: { type: 'openai-compatible', base_url: 'https://api.cerebras.ai/v1', key: 'CEREBRAS_API_KEY' },
  fireworks: {
    type: 'openai-compatible',
    base_url: 'https://api.fireworks.ai/inference/v1',
    key: 'FIREWORKS_API_KEY',
  },
  perplexity: { type: 'openai-compatible', base_url: 'https://api.perplexity.ai', key: 'PERPLEXITY_API_KEY' },
  github: { type: 'openai-compatible', base_url: 'https://models.github.ai/inference', key: 'GITHUB_TOKEN' },
  'huggingface:chat': {
    type: 'openai-compatible',
    base_url: 'https://router.huggingface.co/v1',
    key: 'HF_TOKEN',
  },
  nscale: {
    type: 'openai-compatible',
    base_url: 'https://inference.api.nscale.com/v1',
    key: 'NSCALE_SERVICE_TOKEN',
  },
  alibaba: {
    type: 'openai-compatible',
    base_url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    key: 'DASHSCOPE_API_KEY',
  },
  llamaapi: { type: 'openai-compatible', base_url: 'https://api.llama.com/compat/v1', key: 'LLAMA_API_KEY' },
  moonshot: { type: 'openai-compatible', base_url: 'https://api.moonshot.ai/v1', key: 'MOONSHOT_API_KEY' },
  minimax: { type: 'openai-compatible', base_url: 'https://api.minimax.io/v1', key: 'MINIMAX_API_KEY' },
  novita: { type: 'openai-compatible', base_url: 'https://api.novita.ai/openai/v1', key: 'NOVITA_API_KEY' },
  xai: { type: 'openai-compatible', base_url: 'https://api.x.ai/v1', key: 'XAI_API_KEY' },
};

/** What those words may not be followed by: other APIs of the same maker. */
const otherApis =
  /^(openai:(embeddings?|completion|assistant|image|moderation|realtime|transcription|video|agents|codex|chatkit|speech|tts)|anthropic:(completion|[a-z]+-agent-sdk)|google:(live|image|video|embedding)|\w+:(embeddings?|image|video|completion):)/;

type Mapping = Readonly<Record<string, unknown>>;

/** The entry of `spec.providers`, and options of its chats; undefined where the id means no API that is known. */
export function chatProviderOf(
  given: GivenProvider,
  name: string,
  context: ProviderContext,
): { readonly entry: Mapping; readonly chat?: Mapping } | undefined {
  if (otherApis.test(given.id)) return undefined;
  const words = given.id.split(':');
  const two = words.slice(0, 2).join(':');
  const prefix = apis[two] === undefined ? (words[0] ?? '') : two;
  const api = Object.hasOwn(apis, prefix) ? apis[prefix] : undefined;
  const model = given.id.slice(prefix.length + 1).replace(api?.base_url === undefined ? '' : /^chat:/, '');
  if (api === undefined || model === '') return undefined;
  const { key, ...entry } = api;
  const own = settingsOf(given, context);
  const written = omitUndefined({
    id: name,
    model,
    ...entry,
    ...(own.base_url !== undefined && { base_url: own.base_url }),
    credential: credentialOf(given, key, context.notes),
    defaults: Object.keys(own.defaults).length > 0 ? own.defaults : undefined,
    ...own.entry,
  });
  return { entry: written, ...(Object.keys(own.chat).length > 0 && { chat: own.chat }) };
}

interface Settings {
  readonly base_url: string | undefined;
  readonly defaults: Record<string, number>;
  readonly entry: Mapping;
  readonly chat: Mapping;
}

function settingsOf({ config, at }: GivenProvider, { files, notes }: ProviderContext): Settings {
  let [entry, chat]: readonly [Mapping, Mapping] = [{}, {}];
  const defaults: Record<string, number> = {};
  let base: string | undefined;
  const { generationConfig, ...plain } = config;
  const nested = isObject(generationConfig) ? generationConfig : {};
  for (const [key, value] of Object.entries({ ...nested, ...plain })) {
    const place = key in plain ? [...at, 'config', key] : [...at, 'config', 'generationConfig', key];
    const setting = Object.hasOwn(numberSettings, key) ? numberSettings[key] : undefined;
    if (setting !== undefined && typeof value === 'number') defaults[setting] = value;
    else if (key === 'apiBaseUrl' && isCleanUrl(value)) base = value;
    else if (!['apiKey', 'apiKeyEnvar'].includes(key)) {
      const found = settingOf(key, value, files);
      if (found === undefined)
        notes.add('error', place, `the setting \`${key}\` of a provider is not carried`);
      else {
        entry = { ...entry, ...found.entry };
        chat = { ...chat, ...found.chat };
        if (found.warning !== undefined) notes.add('warning', place, found.warning);
      }
    }
  }
  return { base_url: base, defaults, entry, chat };
}

/** An address without a password, and without anything that is filled in. */
function isCleanUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value) || /[{}]/.test(value)) return false;
  const { username, password, search } = new URL(value);
  return username === '' && password === '' && search === '';
}

/** Names a variable, and never writes a key. */
function credentialOf(
  { config, at }: GivenProvider,
  key: string | undefined,
  notes: Notes,
): object | undefined {
  const { apiKey, apiKeyEnvar } = config;
  if (typeof apiKeyEnvar === 'string' && /^\w+$/.test(apiKeyEnvar)) return { credential_env: apiKeyEnvar };
  if (apiKey === undefined) return key === undefined ? undefined : { credential_env: key };
  const named =
    typeof apiKey === 'string' ? /^(?:\$\{?(\w+)\}?|\{\{\s*env\.(\w+)\s*\}\})$/.exec(apiKey) : null;
  const variable = named?.[1] ?? named?.[2] ?? key ?? 'PROMPTFOO_IMPORTED_KEY';
  if (named === null)
    notes.add('warning', [...at, 'config', 'apiKey'], `the key is not written out: set ${variable} to it`);
  return { credential_env: variable };
}
