import type { ProviderRole } from '../contract/provider.ts';

const httpProviderTypes = [
  'openai',
  'claude',
  'anthropic',
  'gemini',
  'google',
  'ollama',
  'vllm',
  'openai-compatible',
] as const;

export const providerTypes: readonly string[] = [...httpProviderTypes, 'mock', 'replay', 'tool'];

/** Types whose API has no embeddings. */
const withoutEmbeddings: ReadonlySet<string> = new Set<HttpProviderType>(['claude', 'anthropic']);

/** The API that the gateway serves for a type. `any`: a script answers in every API. Undefined: none. */
export function gatewayApiOf(type: string): 'OpenAI' | 'Anthropic' | 'any' | undefined {
  return gatewayApis.get(type);
}

const gatewayApis: ReadonlyMap<string, 'OpenAI' | 'Anthropic' | 'any'> = new Map([
  ['openai', 'OpenAI'],
  ['vllm', 'OpenAI'],
  ['ollama', 'OpenAI'],
  ['openai-compatible', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['claude', 'Anthropic'],
  ['mock', 'any'],
]);

export function whyNotRole(type: string, role: ProviderRole): string | undefined {
  if (role === 'llm')
    return type === 'tool' ? 'a tool can only embed: its role must be embedding' : undefined;
  return withoutEmbeddings.has(type) ? `its role is embedding, and ${type} has no embeddings` : undefined;
}

/** What a model does: it answers, or it converts texts to vectors. */

/** PromptKit's words for a model's task that Signalbox supports. */
export const providerRoles: readonly ProviderRole[] = ['llm', 'embedding'];

export type HttpProviderType = (typeof httpProviderTypes)[number];

// Sources: the error messages of OpenAI's and Anthropic's APIs; Google's FunctionDeclaration.
const openAiNames = {
  pattern: /^[a-zA-Z0-9_-]{1,64}$/,
  words: '1 to 64 letters from a to z, digits, _ and -',
};
const anthropicNames = {
  pattern: /^[a-zA-Z0-9_-]{1,128}$/,
  words: '1 to 128 letters from a to z, digits, _ and -',
};
const googleNames = {
  pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
  words: '1 to 128 letters from a to z, digits, _, ., : and -, and begin with a letter or _',
};

/** Rules for tool names, by type of provider. Other types have no known rule. */
export const toolNameRules: ReadonlyMap<string, { readonly pattern: RegExp; readonly words: string }> =
  new Map([
    ['openai', openAiNames],
    ['claude', anthropicNames],
    ['anthropic', anthropicNames],
    ['gemini', googleNames],
    ['google', googleNames],
  ]);
