import { estimateCall } from '../keys/estimate.ts';
import type { OfferedModel } from '../upstream/upstream.ts';
import { RefusedCall } from '../wire/refusal.ts';
import type { CallOfCaller, IncomingCall } from './stages.ts';

interface AskedModel {
  readonly text: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices: number;
}

/** Finds the model of a call, and takes its place among the calls of its key. Throws RefusedCall (403, 404, 429). */
export async function enterCall(
  { client, services, account, caller }: CallOfCaller,
  asked: AskedModel,
): Promise<OfferedModel> {
  account.model = asked.model;
  account.isStream = asked.isStream;
  const offered = findModel(services.models, client.endpoint, asked.model);
  account.offered = offered;
  const lease = await services.admission.enter(caller, asked.model);
  account.hold(lease);
  if (caller.keyId !== null) {
    const { pricing, defaults } = offered.provider;
    const bodyBytes = Buffer.byteLength(asked.text);
    await lease.reserve(
      estimateCall({
        ...{ endpoint: client.endpoint, request: asked, bodyBytes },
        ...{ price: pricing, defaultMaxTokens: defaults.maxTokens },
      }),
    );
  }
  client.signal.throwIfAborted();
  return offered;
}

function findModel(
  models: readonly OfferedModel[],
  endpoint: IncomingCall['client']['endpoint'],
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
