import type { ClientHeaders } from '../upstream/headers.ts';

/**
 * The key of the gateway that a request presents: in `x-signalbox-key`, else where the SDKs put keys, unless what stands
 * there is passed through to the upstream.
 */
export function presentedKey(headers: ClientHeaders, passThrough: readonly string[]): string | undefined {
  const own = textOf(headers['x-signalbox-key']);
  if (own !== undefined) return own;
  const bearer = passThrough.includes('authorization') ? undefined : textOf(headers['authorization']);
  const token = bearer === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(bearer)?.[1];
  if (token !== undefined) return token;
  return passThrough.includes('x-api-key') ? undefined : textOf(headers['x-api-key']);
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
