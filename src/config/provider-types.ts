import type { ProviderRole } from '../contract/provider.ts';

/** APIs that are called over HTTP, by the names that an entry may call them. */
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

/** Everything that `type` of a provider may be. */
export const providerTypes: readonly string[] = [...httpProviderTypes, 'mock', 'replay', 'tool'];

/** The types whose API has no embeddings. */
const withoutEmbeddings: ReadonlySet<string> = new Set<HttpProviderType>(['claude', 'anthropic']);

/** The API that a type speaks at a gateway, which forwards calls as they are: `any` says its script in all; undefined: none there. */
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

/** Why a provider of that type cannot have that role; undefined where it can. */
export function whyNotRole(type: string, role: ProviderRole): string | undefined {
  if (role === 'llm')
    return type === 'tool' ? 'a tool can only embed: its role has to be embedding' : undefined;
  return withoutEmbeddings.has(type) ? `its role is embedding, and ${type} has no embeddings` : undefined;
}

/** What a model does: it answers, or it turns texts into vectors. */

/** PromptKit's words for what a model does that have a meaning here. */
export const providerRoles: readonly ProviderRole[] = ['llm', 'embedding'];

export type HttpProviderType = (typeof httpProviderTypes)[number];

// OpenAI's and Anthropic's as their APIs state them when they refuse a name; Google's of FunctionDeclaration.
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

/** What the name of a tool may be, by the type of the provider that gets it; none is known of the others. */
export const toolNameRules: ReadonlyMap<string, { readonly pattern: RegExp; readonly words: string }> =
  new Map([
    ['openai', openAiNames],
    ['claude', anthropicNames],
    ['anthropic', anthropicNames],
    ['gemini', googleNames],
    ['google', googleNames],
  ]);
