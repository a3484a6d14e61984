import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import type { ProviderConfig } from '../../config/config.ts';
import type { HostEnv } from '../../process/env.ts';
import type { Peer } from '../provider-error.ts';
import { isHeaderText, readCredential, secretsOfHeaders, unusableError } from './credential.ts';
import type { ApiAccess, ProviderKind } from './provider-kinds.ts';

interface HttpModelContext {
  readonly env: HostEnv;
  readonly folder: string;
}

export interface HttpAccess {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

export async function readAccess(
  config: ProviderConfig,
  kind: ProviderKind,
  { env, folder }: HttpModelContext,
): Promise<HttpAccess> {
  requireHeaders(config);
  const baseUrl = kind.baseUrl(config);
  const sources = { env, folder, variables: kind.keyVariables, required: kind.needsKey };
  const apiKey = await readCredential(config, sources);
  const { headers } = config;
  return {
    baseUrl,
    headers,
    secrets: secretsOf(config, apiKey),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** Calls `open` with the access to an HTTP API. Throws PROVIDER_UNUSABLE. */
export async function openHttpModel<Model>(
  config: ProviderConfig,
  kind: ProviderKind,
  { env, folder, open }: HttpModelContext & { readonly open: (access: ApiAccess) => Promise<Model> },
): Promise<{ model: Model; peer: Peer }> {
  const { secrets, ...called } = await readAccess(config, kind, { env, folder });
  const access = { ...called, fetch: fetchWithoutRedirects };
  const model = await open(access).catch((thrown: unknown) => {
    throw thrown instanceof RuntimeError ? thrown : unusableError(config.id, toRuntimeError(thrown).message);
  });
  return { model, peer: { id: config.id, secrets } };
}

function requireHeaders({ id, headers }: ProviderConfig): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw unusableError(id, `headers: "${name}" is not a valid header name`);
    if (!isHeaderText(value))
      throw unusableError(id, `headers.${name}: has characters that a header cannot carry`);
  }
}

/** A redirect would receive the key. */
const fetchWithoutRedirects: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' });

/** The longest first. Secrets under 8 characters are left out, since hiding them would hide too much of any text. */
function secretsOf({ headers }: ProviderConfig, apiKey: string | undefined): string[] {
  return [...(apiKey === undefined ? [] : [apiKey]), ...secretsOfHeaders(headers)]
    .filter((value) => value.length >= 8)
    .toSorted((one, other) => other.length - one.length);
}
