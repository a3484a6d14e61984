import { RuntimeError } from '../base/errors.ts';
import { decodePercent } from '../base/text/decode-percent.ts';

/**
 * The URL and headers for fetch; the endpoint's own headers replace the default ones. Throws CONFIG_INVALID.
 */
export function createRequest({ name, url: text, headers: given }: RequestTarget): {
  url: URL;
  headers: Headers;
} {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new RuntimeError('CONFIG_INVALID', `the url of "${name}" is no http or https URL`);
  }
  const headers = new Headers({ 'content-type': 'application/json' });
  const { username, password } = url;
  if (username !== '' || password !== '')
    headers.set('authorization', basicAuthorization(username, password));
  url.username = '';
  url.password = '';
  for (const [key, value] of Object.entries(given)) setHeader(headers, { name, key, value });
  return { url, headers };
}

/** The URL without query, fragment and credentials, for messages. */
export function urlForMessages({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

interface RequestTarget {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Fetch refuses a URL with credentials. Source: RFC 7617. */
function basicAuthorization(username: string, password: string): string {
  const pair = `${decodePercent(username)}:${decodePercent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** The platform's own error shows the value, which may be a secret. */
function setHeader(
  headers: Headers,
  { name, key, value }: { readonly name: string; readonly key: string; readonly value: string },
): void {
  try {
    headers.set(key, value);
  } catch {
    throw new RuntimeError('CONFIG_INVALID', `the header "${key}" of "${name}" is none that HTTP can carry`);
  }
}
