import { decodePercent } from '../../base/text/decode-percent.ts';
import type { ProviderConfig, RuntimeConfig } from '../../config/config.ts';
import { foreignDialects } from '../../dialects/registry.ts';
import { secretsOfHeaders } from '../../models/open/credential.ts';
import { closeEnv, type HostEnv } from '../../process/env.ts';
import { isCredentialName } from '../log/redact.ts';

/**
 * The secrets of a config: environment values that its entries forward, literals with names of credentials,
 * keys and secret headers of its providers, and what was filled into its values. A key in a file is added by the code that reads it.
 */
export function secretsOf(config: RuntimeConfig, host: HostEnv): string[] {
  const entries = [...config.tools, ...config.evals, ...config.hooks].flatMap(({ exec }) => exec?.env ?? []);
  const foreign = config.foreign.flatMap(({ exec }) => exec?.env ?? []);
  const imported = config.imports.flatMap(({ env }) => env);
  const endpoints = config.foreign.flatMap(
    ({ dialect, settings }) => foreignDialects[dialect].endpointOf?.(settings)?.env ?? [],
  );
  const all = [...entries, ...foreign, ...imported, ...endpoints];
  return [
    ...closeEnv(all, host).secrets,
    ...all.flatMap(literalOf),
    ...config.providers.flatMap((provider) => secretsOfProvider(provider, host)),
    ...config.hooks.flatMap(({ exec }) => secretsOfEndpoint(exec)),
    ...secretOfAudit(config, host),
    ...secretsOfStore(config, host),
    ...(config.environment?.secrets ?? []),
  ];
}

function literalOf(entry: string): string[] {
  const equals = entry.indexOf('=');
  return equals > 0 && isCredentialName(entry.slice(0, equals)) ? [entry.slice(equals + 1)] : [];
}

function secretOfAudit({ gateway }: RuntimeConfig, host: HostEnv): string[] {
  const name = gateway.audit?.keyEnv;
  return [(name === undefined ? undefined : host[name]) ?? ''].filter(({ length }) => length >= SHORTEST);
}

/** The address of a state store; the password in it is a secret as that of any address. */
function secretsOfStore({ stateStore }: RuntimeConfig, host: HostEnv): string[] {
  if (stateStore.type !== 'postgres' || !Object.hasOwn(host, stateStore.urlEnv)) return [];
  return [host[stateStore.urlEnv] ?? ''].filter(({ length }) => length >= SHORTEST);
}

function secretsOfProvider({ credential, headers }: ProviderConfig, host: HostEnv): string[] {
  const { apiKey, env } = credential;
  const value = env !== undefined && Object.hasOwn(host, env) ? host[env] : undefined;
  const all = [apiKey ?? '', value ?? '', ...secretsOfHeaders(headers)];
  return all.filter(({ length }) => length >= SHORTEST);
}

function secretsOfEndpoint({ endpoint }: RuntimeConfig['hooks'][number]['exec']): string[] {
  if (endpoint === undefined) return [];
  const password = decodePercent(URL.parse(endpoint.url)?.password ?? '');
  return [...secretsOfHeaders(endpoint.headers), password].filter(({ length }) => length >= SHORTEST);
}

/** Shorter values would hide too much ordinary text. */
const SHORTEST = 8;
