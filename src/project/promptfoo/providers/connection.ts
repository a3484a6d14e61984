import type { GivenProvider } from './provider-model.ts';

/** An address without a password, and without anything that is filled in. */
export function isCleanUrl(value: string): boolean {
  if (!URL.canParse(value) || /[{}]/.test(value)) return false;
  const { username, password, search } = new URL(value);
  return username === '' && password === '' && search === '';
}

/** Names a variable, and never writes a key. */
export function credentialOf({ config }: GivenProvider, key: string | undefined): object | undefined {
  const [given, named] = [config.at('apiKey'), config.at('apiKeyEnvar')];
  const written = given.text();
  const variable = named.text();
  const isNamed = variable !== undefined && /^\w+$/.test(variable);
  if (variable !== undefined && !isNamed) named.leave('it names no variable, and is not carried');
  if (!given.isGiven && !isNamed) return key === undefined ? undefined : { credential_env: key };
  const read = /^(?:\$\{?(\w+)\}?|\{\{\s*env\.(\w+)\s*\}\})$/.exec(written ?? '');
  const found = isNamed ? variable : (read?.[1] ?? read?.[2] ?? key ?? 'PROMPTFOO_IMPORTED_KEY');
  if (written !== undefined && (isNamed || read === null))
    given.note('warning', `the key is not written out: set ${found} to it`);
  return { credential_env: found };
}
