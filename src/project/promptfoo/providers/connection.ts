import type { Notes } from '../../suite-import/notes.ts';
import type { GivenProvider } from './provider-model.ts';

/** An address without a password, and without anything that is filled in. */
export function isCleanUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value) || /[{}]/.test(value)) return false;
  const { username, password, search } = new URL(value);
  return username === '' && password === '' && search === '';
}

/** Names a variable, and never writes a key. */
export function credentialOf(
  { config, at }: GivenProvider,
  key: string | undefined,
  notes: Notes,
): object | undefined {
  const { apiKey, apiKeyEnvar } = config;
  if (typeof apiKeyEnvar === 'string' && /^\w+$/.test(apiKeyEnvar)) return { credential_env: apiKeyEnvar };
  if (apiKey === undefined) return key === undefined ? undefined : { credential_env: key };
  const named =
    typeof apiKey === 'string' ? /^(?:\$\{?(\w+)\}?|\{\{\s*env\.(\w+)\s*\}\})$/.exec(apiKey) : null;
  const variable = named?.[1] ?? named?.[2] ?? key ?? 'PROMPTFOO_IMPORTED_KEY';
  if (named === null)
    notes.add('warning', [...at, 'config', 'apiKey'], `the key is not written out: set ${variable} to it`);
  return { credential_env: variable };
}
