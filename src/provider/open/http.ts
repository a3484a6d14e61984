import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { HostEnv } from '../../binding/env.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import { isHeaderText, readCredential, unusable } from './credential.ts';
import type { Peer } from './failure.ts';
import type { Kind } from './kinds.ts';
import { secretsOfHeaders } from './secret-headers.ts';

interface Surroundings {
  readonly env: HostEnv;
  readonly folder: string;
}

/** A model behind an HTTP API, with its key. Throws PROVIDER_UNUSABLE. */
export async function openHttpModel(
  config: ProviderConfig,
  kind: Kind,
  { env, folder }: Surroundings,
): Promise<{ model: LanguageModelV4; peer: Peer }> {
  requireHeaders(config);
  const baseUrl = kind.baseUrl(config);
  const sources = { env, folder, variables: kind.variables, required: kind.needsKey };
  const apiKey = await readCredential(config, sources);
  const access = {
    baseUrl,
    headers: config.headers,
    fetch: fetchOnce,
    ...(apiKey === undefined ? {} : { apiKey }),
  };
  const model = await kind.open(config, access).catch((thrown: unknown) => {
    throw thrown instanceof RuntimeError ? thrown : unusable(config.id, toRuntimeError(thrown).message);
  });
  return { model, peer: { id: config.id, secrets: secretsOf(config, apiKey) } };
}

function requireHeaders({ id, headers }: ProviderConfig): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw unusable(id, `headers: "${name}" is no name of a header`);
    if (!isHeaderText(value))
      throw unusable(id, `headers.${name}: has characters that a header cannot carry`);
  }
}

/** Follows no redirect: the key would go along to wherever it points. */
const fetchOnce: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' });

/** The key and the headers that hold others, the longest first; what is short hides too much of any text. */
function secretsOf({ headers }: ProviderConfig, apiKey: string | undefined): string[] {
  return [...(apiKey === undefined ? [] : [apiKey]), ...secretsOfHeaders(headers)]
    .filter((value) => value.length >= 8)
    .toSorted((one, other) => other.length - one.length);
}
