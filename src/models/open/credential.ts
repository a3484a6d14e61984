import { isAbsolute, join } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { readBounded } from '../../base/files/read-bounded.ts';
import type { ProviderConfig } from '../../config/config.ts';
import type { HostEnv } from '../../process/env.ts';

interface CredentialSources {
  readonly env: HostEnv;
  readonly folder: string;
  /** Variables with the key, if the entry names none. The first that is set counts. */
  readonly variables: readonly string[];
  readonly required: boolean;
}

/**
 * Reads `api_key`, `credential_file`, `credential_env`, then the usual variables of the type. Throws PROVIDER_UNUSABLE
 * if a declared or required key is missing.
 */
export async function readCredential(
  config: ProviderConfig,
  sources: CredentialSources,
): Promise<string | undefined> {
  const key = (await findKey(config, sources))?.trim();
  if (key === undefined || key === '') return undefined;
  if (isHeaderText(key)) return key;
  throw unusableError(config.id, 'its API key has characters that an HTTP header cannot carry');
}

/** Source: RFC 9110, 5.5. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

export function unusableError(id: string, why: string, hint?: string): RuntimeError {
  return new RuntimeError('PROVIDER_UNUSABLE', `provider "${id}": ${why}`, { hint });
}

async function findKey(
  { id, type, credential }: ProviderConfig,
  { env, folder, variables, required }: CredentialSources,
): Promise<string | undefined> {
  if (credential.apiKey) return credential.apiKey;
  if (credential.file) return readKeyFile(id, credential.file, folder);
  if (credential.env) {
    const value = readVariable(env, credential.env);
    if (value !== undefined) return value;
    throw unusableError(
      id,
      `the environment variable ${credential.env} is not set`,
      `Set ${credential.env}.`,
    );
  }
  const found = variables.map((name) => readVariable(env, name)).find((value) => value !== undefined);
  if (found !== undefined || !required) return found;
  const names = variables.join(' or ');
  throw unusableError(id, `${type} needs an API key`, `Set ${names}, or give the entry a \`credential\`.`);
}

/** Bytes. */
const LARGEST_KEY = 64 * 1024;

function readKeyFile(id: string, file: string, folder: string): string {
  const path = isAbsolute(file) ? file : join(folder, file);
  let key: string;
  try {
    key = readBounded(path, LARGEST_KEY).toString();
  } catch (thrown) {
    throw unusableError(id, `its credential_file cannot be read: ${toRuntimeError(thrown).message}`);
  }
  if (key.trim() === '') throw unusableError(id, `its credential_file ${path} is empty`);
  return key;
}

function readVariable(env: HostEnv, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === undefined || value.trim() === '' ? undefined : value;
}

/** The values of headers with credentials: `Bearer KEY` as a whole, and KEY alone. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? partsOf(value) : []));
}

function isSecretHeader(name: string): boolean {
  return /auth|key|token|secret|cookie|passw|credential|signature/i.test(name);
}

function partsOf(value: string): string[] {
  return [value, ...value.split(/[\s;,=]+/)];
}
