import { estimateCall } from '../keys/estimate.ts';
import type { OfferedModel } from '../upstream/upstream.ts';
import type { CallOfCaller } from './stages.ts';

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
  const offered = services.modelOf(client.endpoint, asked.model);
  account.offered = offered;
  const { pricing, defaults } = offered.provider;
  const estimate = () =>
    estimateCall({
      ...{ endpoint: client.endpoint, request: asked, text: asked.text },
      ...{ price: pricing, defaultMaxTokens: defaults.maxTokens },
    });
  account.hold(await services.admission.enter(caller, asked.model, estimate));
  client.signal.throwIfAborted();
  return offered;
}
