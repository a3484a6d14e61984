import { estimateCall } from '../keys/estimate.ts';
import type { Estimate } from '../ports.ts';
import type { CallOfCaller } from '../stages.ts';
import { candidatesOf, type OfferedModel } from '../upstream/upstream.ts';

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
  const estimateOf = ({ provider: { pricing, defaults } }: OfferedModel) =>
    estimateCall({
      ...{ endpoint: client.endpoint, request: asked, text: asked.text },
      ...{ price: pricing, defaultMaxTokens: defaults.maxTokens },
    });
  const estimate = () => dearest(candidatesOf(offered, client.endpoint).map(estimateOf));
  account.hold(await services.admission.enter(caller, asked.model, estimate));
  client.signal.throwIfAborted();
  return offered;
}

/** What suffices whoever answers; without a price where one of them has none. */
function dearest(estimates: readonly Estimate[]): Estimate {
  return estimates.reduce((one, other) => ({
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
    cost: one.cost === null || other.cost === null ? null : Math.max(one.cost, other.cost),
  }));
}
