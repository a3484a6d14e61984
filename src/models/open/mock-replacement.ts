import { RuntimeError } from '../../base/errors.ts';
import type { ProviderConfig } from '../../config/config.ts';
import type { HostEnv } from '../../process/env.ts';

/**
 * Returns the provider itself, unless the variable that `replaced_by_env` names holds `URL#MODEL`. Then it returns the
 * OpenAI-compatible endpoint there. Throws PROVIDER_UNUSABLE.
 */
export function replaceMock(config: ProviderConfig, env: HostEnv): ProviderConfig {
  const variable = config.additionalConfig['replaced_by_env'];
  if (config.type !== 'mock' || typeof variable !== 'string') return config;
  const endpoint = env[variable] ?? '';
  if (endpoint === '') return config;
  const { baseUrl, model } = parseEndpoint(config, { variable, place: endpoint });
  const { env: key, ...credential } = config.credential;
  return {
    ...config,
    type: 'openai-compatible',
    baseUrl,
    model,
    credential: key === undefined || env[key] === undefined ? credential : { ...credential, env: key },
    additionalConfig: {},
  };
}

function parseEndpoint(
  { id, model }: ProviderConfig,
  { variable, place }: { readonly variable: string; readonly place: string },
) {
  const url = URL.canParse(place) ? new URL(place) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new RuntimeError(
      'PROVIDER_UNUSABLE',
      `provider "${id}": ${variable} does not hold an http(s) URL`,
      {
        hint: `Set ${variable} to something like http://localhost:11434/v1#llama3.1, or unset it.`,
      },
    );
  }
  const named = decodeURIComponent(url.hash.slice(1));
  url.hash = '';
  return { baseUrl: url.href.replace(/\/$/, ''), model: named === '' ? model : named };
}
