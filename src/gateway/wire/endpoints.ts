import type { EndpointName } from './codec.ts';

/** Where each endpoint is below the address of an API, which ends with its version. */
export const endpointPaths: Readonly<Record<EndpointName, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  messages: '/messages',
  count_tokens: '/messages/count_tokens',
};

export const endpointNames = ['chat', 'responses', 'embeddings', 'messages', 'count_tokens'] as const;

/** Whether an endpoint is one of Anthropic's API; the others are OpenAI's. */
export function isAnthropicEndpoint(endpoint: EndpointName): boolean {
  return endpoint === 'messages' || endpoint === 'count_tokens';
}
