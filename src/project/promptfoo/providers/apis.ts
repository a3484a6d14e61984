/** How the models of one maker are asked. */
export interface Api {
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

/** The API that the first words of an id mean, and what comes after them; undefined where none is known. */
export function findApi(id: string): { readonly api: Api; readonly rest: string } | undefined {
  const words = id.split(':');
  const two = words.slice(0, 2).join(':');
  const prefix = Object.hasOwn(apis, two) ? two : (words[0] ?? '');
  const api = Object.hasOwn(apis, prefix) ? apis[prefix] : undefined;
  return api === undefined ? undefined : { api, rest: id.slice(prefix.length + 1) };
}
