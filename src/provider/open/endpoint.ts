import type { ProviderConfig } from '../../config/config.ts';
import { unusable } from './credential.ts';

interface Usual {
  /** The API's own address, without a path; absent: the entry must name one. */
  readonly usual?: string;
  /** The path of the API's version. */
  readonly version?: string;
  /** Whether any other server, too, serves that version where the entry gives no path. */
  readonly anyHost?: boolean;
}

/** The address that requests are put under, without a slash at its end. Throws PROVIDER_UNUSABLE. */
export function readEndpoint(config: ProviderConfig, { usual, version = '', anyHost }: Usual): string {
  const { baseUrl } = config;
  if (baseUrl === undefined && usual !== undefined) return usual + version;
  if (baseUrl === undefined) throw unusable(config.id, `${config.type} needs a base_url`);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw unusable(config.id, 'base_url must be an http or https address');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw unusable(config.id, 'base_url must be an address without a user, a query or a fragment');
  }
  const text = url.href.replace(/\/+$/, '');
  const isBare = url.pathname === '/';
  return isBare && (anyHost || url.origin === usual) ? text + version : text;
}
