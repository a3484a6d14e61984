import type { EndpointCodec, EndpointName } from '../../../../src/gateway/wire/codec.ts';
import { createDice } from '../case.ts';
import { sampleDocuments } from './documents.ts';
import { isLeaked, passMutant, ways } from './judge.ts';
import { createMutator } from './mutate.ts';
import { readBySdk } from './sdks.ts';

/** Endpoints whose bodies have a closed shape. No generated document may leak here. */
export const shapedEndpoints: readonly EndpointName[] = [
  'chat',
  'responses',
  'messages',
  'count_tokens',
  'embeddings',
];

export interface Search {
  readonly seed: number;
  readonly count: number;
  readonly endpoints: readonly EndpointName[];
  /** Replaces the endpoint's own codec, to prove that a weak codec is detected. */
  readonly codec?: EndpointCodec;
}

/**
 * Sends generated documents through the codecs; a seed always gives the same documents. A leak is a marker that reaches
 * the other side although the filter denies or replaces it. At most a hundred leaks are returned.
 */
export async function findLeaks({
  seed,
  count,
  endpoints,
  codec,
}: Search): Promise<{ readonly ran: number; readonly leaked: number; readonly leaks: readonly string[] }> {
  const mutator = createMutator(sampleDocuments.filter(({ endpoint }) => endpoints.includes(endpoint)));
  const leaks: string[] = [];
  let leaked = 0;
  for (let nth = 0; nth < count; nth++) {
    const dice = createDice(seed + nth);
    const mutant = mutator(dice);
    const way = ways[dice(ways.length)] ?? ways[0];
    const { endpoint, side } = mutant.document;
    const out = await passMutant(mutant, way, codec);
    const isJoined = mutant.isSplit === true && out !== undefined;
    if (!isLeaked(isJoined ? await readBySdk(endpoint, out) : out)) continue;
    leaked += 1;
    if (leaks.length < 100)
      leaks.push(`${endpoint} ${side}, ${way.action}, ${way.mode}: ${mutant.what} (seed ${seed + nth})`);
  }
  return { ran: count, leaked, leaks };
}
