import type { EndpointName } from '../wire/codec.ts';
import { RefusedCall } from '../wire/refusal.ts';
import type { OfferedModel } from './upstream.ts';

/** The model of that name at an endpoint. Throws RefusedCall (404). */
export function findModel(
  models: readonly OfferedModel[],
  endpoint: EndpointName,
  name: string,
): OfferedModel {
  const named = models.filter((each) => each.name === name);
  const offered = named.find(({ endpoints }) => endpoints.has(endpoint));
  if (offered !== undefined) return offered;
  const shown = name.length > 128 ? `${name.slice(0, 128)}…` : name;
  const message =
    named.length === 0
      ? `The model ${JSON.stringify(shown)} is not offered here.`
      : `The model ${JSON.stringify(shown)} is not offered at this endpoint.`;
  throw new RefusedCall({
    status: 404,
    code: 'model_not_found',
    message,
    param: 'model',
    isRetryable: false,
  });
}
