import { createServer } from 'node:net';
import { type RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { systemCode } from '../../../base/files/file-error.ts';
import type { ProviderConfig, RuntimeConfig } from '../../../config/config.ts';
import { readCredential } from '../../../models/open/credential.ts';
import { providerKinds } from '../../../models/open/provider-kinds.ts';
import { mapConcurrently } from '../../../pipelines/run/map-concurrently.ts';
import type { HostEnv } from '../../../process/env.ts';
import type { ForeignEntry } from '../../foreign-links.ts';
import { type Check, found } from './check.ts';

const AT_ONCE = 16;

/** Whether each provider has an address and a key. Calls none, and shows no key. */
export async function checkProviders(config: RuntimeConfig, env: HostEnv): Promise<Check[]> {
  return await mapConcurrently(config.providers, AT_ONCE, async (provider) => {
    const about = { check: 'provider', subject: provider.id, place: provider.position };
    try {
      return found('ok', { ...about, message: await describeProvider(provider, env, config.folder) });
    } catch (thrown) {
      const { message, hint } = hintedError(thrown);
      return found('error', { ...about, message, hint });
    }
  });
}

/** Throws PROVIDER_UNUSABLE. */
async function describeProvider(provider: ProviderConfig, env: HostEnv, folder: string): Promise<string> {
  if (provider.refused !== undefined) throw new Error(provider.refused);
  const kind = providerKinds.get(provider.type);
  if (kind === undefined) return `${provider.type} needs no key`;
  const address = kind.baseUrl(provider);
  const sources = { env, folder, variables: kind.keyVariables, required: kind.needsKey };
  const key = await readCredential(provider, sources);
  return `${address}, ${key === undefined ? 'without a key' : 'the key is there'}`;
}

/** Whether the address of each hook that is an endpoint is one. Calls none. */
export function checkEndpoints(foreign: readonly ForeignEntry[]): Check[] {
  return foreign.flatMap(({ config, resolved: { http, missingEnv } }) => {
    if (http === undefined) return [];
    const about = { check: 'endpoint', subject: `hook ${config.name}`, place: config.source };
    const lacking = missingEnv.map((name) =>
      found('warning', {
        ...about,
        check: 'env',
        message: `the environment has no ${name}`,
        hint: `Set ${name}.`,
      }),
    );
    const isUrl = URL.canParse(http.url);
    const hint = isUrl ? undefined : 'Write `http://` or `https://`, a host and a path.';
    const message = isUrl ? 'its address is well formed; it is not called' : 'its address is no URL';
    return [found(isUrl ? 'ok' : 'error', { ...about, message, hint }), ...lacking];
  });
}

/** Whether the address that `signalbox serve` would listen at is free. */
export async function checkListen({ gateway }: RuntimeConfig): Promise<Check> {
  const { host, port } = gateway.listen;
  const about = { check: 'gateway', subject: `${host}:${port}` };
  const code = await whyNotListen(host, port);
  if (code === undefined) return found('ok', { ...about, message: 'is free' });
  const message =
    code === 'EADDRINUSE' ? 'is taken: something listens there already' : `cannot be listened at (${code})`;
  const hint =
    'If that is not this gateway, choose another address: `serve --listen`, or spec.gateway.listen.';
  return found('warning', { ...about, message, hint });
}

async function whyNotListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return undefined;
  } catch (thrown) {
    return String(systemCode(thrown) ?? 'unknown');
  } finally {
    server.close();
  }
}

function hintedError(thrown: unknown): Pick<RuntimeError, 'message' | 'hint'> {
  const { message, hint } = toRuntimeError(thrown);
  return { message, hint };
}
