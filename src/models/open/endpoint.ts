import type { ProviderConfig } from '../../config/config.ts';
import { unusableError } from './credential.ts';

interface EndpointDefaults {
  /** The API's own address, without a path; absent: the entry must name one. */
  readonly origin?: string;
  /** The path of the API's version. */
  readonly versionPath?: string;
  /** Whether the version path is added to other hosts as well when the entry gives no path. */
  readonly appliesToAnyHost?: boolean;
}

/** The base URL of requests, without a trailing slash. Throws PROVIDER_UNUSABLE. */
export function readEndpoint(
  config: ProviderConfig,
  { origin: usual, versionPath = '', appliesToAnyHost }: EndpointDefaults,
): string {
  const { baseUrl } = config;
  if (baseUrl === undefined && usual !== undefined) return usual + versionPath;
  if (baseUrl === undefined) throw unusableError(config.id, `${config.type} needs a base_url`);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw unusableError(config.id, 'base_url must be an http or https address');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw unusableError(config.id, 'base_url must be an address without a user, a query or a fragment');
  }
  const text = url.href.replace(/\/+$/, '');
  const isBare = url.pathname === '/';
  return isBare && (appliesToAnyHost || url.origin === usual) ? text + versionPath : text;
}
