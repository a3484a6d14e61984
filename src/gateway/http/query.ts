import type { EndpointName } from '../wire/codec.ts';
import { isAnthropicEndpoint } from '../wire/endpoints.ts';
import { invalidRequest } from '../wire/faults.ts';

/**
 * What stands behind the path of a call, as it goes upstream. No hook reads it, so it may be only what clients are known
 * to send. Throws RefusedCall (400) for anything else.
 */
export function queryOf(url: string, endpoint: EndpointName): string {
  const start = url.indexOf('?');
  const query = start === -1 ? '' : url.slice(start);
  if (query === '' || query === '?') return '';
  // Anthropic's SDK, and its agent, call the beta of Messages so.
  if (isAnthropicEndpoint(endpoint) && query === '?beta=true') return query;
  if (/^\?api-version=[\w.-]{1,40}$/.test(query)) return query;
  throw invalidRequest('The address has a query that is not known here.');
}
