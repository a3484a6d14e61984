import { endpointPaths } from '../../../../src/gateway/upstream/upstream.ts';
import type { EndpointName } from '../../../../src/gateway/wire/codec.ts';
import { createDice } from '../case.ts';
import type { Exchange, World } from '../world.ts';
import { sampleDocuments } from './documents.ts';
import { createMutator, type Mutant, marker } from './mutate.ts';

/** Sends generated documents through a real gateway; returns those whose marker reached the other side. */
export async function sendMutants(
  world: World,
  {
    seed,
    count,
    endpoints,
  }: { readonly seed: number; readonly count: number; readonly endpoints: readonly EndpointName[] },
): Promise<{ readonly ran: number; readonly leaks: readonly string[] }> {
  const mutator = createMutator(sampleDocuments.filter(({ endpoint }) => endpoints.includes(endpoint)));
  const leaks: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    const dice = createDice(seed + nth);
    const mutant = mutator(dice);
    const { endpoint, side } = mutant.document;
    const mode = dice(2) === 0 ? 'hold' : 'windowed';
    const mark = dice(2) === 0 ? 'denyq1a2 b3c' : 'redactq1a2 b3c';
    const { text, upstream } = await world.send(exchangeOf(mutant, mark, dice), mode, side === 'stream');
    const out = side === 'request' ? (upstream ?? '') : text;
    if (out.includes(mark))
      leaks.push(`${endpoint} ${side}, ${mode}, ${mark}: ${mutant.what} (seed ${seed + nth})`);
  }
  return { ran: count, leaks };
}

function exchangeOf({ document, text }: Mutant, mark: string, dice: Exchange['dice']): Exchange {
  const { endpoint, side } = document;
  const spelt = text.replaceAll(`\\u007a${marker.slice(1)}`, `\\u005a${mark}`).replaceAll(marker, `Z${mark}`);
  const model = `m-${models[endpoint]}`;
  const request = (side === 'request' ? spelt : document.request).replace(
    /"model":"[^"]*"/,
    `"model":"${model}"`,
  );
  return {
    path: `/v1${endpointPaths[endpoint]}`,
    status: side === 'error' ? 400 : 200,
    requestBody: (isStream) => (isStream ? request.replace('{', '{"stream":true,') : request),
    answerBody: side === 'answer' || side === 'error' ? spelt : '{}',
    stream: side === 'stream' ? spelt : '',
    dice,
  };
}

const models: Readonly<Record<EndpointName, string>> = {
  chat: 'chat',
  embeddings: 'chat',
  responses: 'responses',
  messages: 'messages',
  count_tokens: 'messages',
};
