import { answerOf, requestOf } from './responses-bodies.ts';
import { eventsOf } from './responses-events.ts';
import { at, type Endpoint, type Frame, isObject, listAt, require, textAt } from './scene.ts';

export const responses: Endpoint = {
  name: 'responses',
  hasStreams: true,
  asked: [
    'instructions',
    'input',
    'user',
    'assistant',
    'assistant refusal',
    'reasoning',
    'call name',
    'call args',
    'result',
    'tool description',
    'tool parameters',
    'text format',
    'user id',
    'metadata',
    'unknown member',
    'unknown item member',
  ],
  answered: [
    'text',
    'second text',
    'refusal',
    'reasoning',
    'call name',
    'call args',
    'annotation',
    'unknown member',
    'unknown item member',
  ],
  scene: (making) => ({
    path: '/v1/responses',
    request: requestOf(making),
    answer: answerOf(making),
    events: eventsOf(answerOf(making), making.dice),
  }),
  view: (answer) => {
    const parts = itemsOf(answer, 'message').flatMap((item) => listAt(item, 'content'));
    return {
      text: parts.map((part) => textAt(part, 'text')).join(''),
      refusal: parts.map((part) => textAt(part, 'refusal')).join(''),
      reasoning: itemsOf(answer, 'reasoning')
        .flatMap((item) => listAt(item, 'summary'))
        .map((part) => textAt(part, 'text'))
        .join(''),
      calls: itemsOf(answer, 'function_call')
        .map((item) => `${textAt(item, 'name')}(${textAt(item, 'arguments')})`)
        .join(' '),
    };
  },
  assemble,
};

function itemsOf(answer: unknown, type: string): unknown[] {
  return listAt(answer, 'output').filter((item) => at(item, 'type') === type);
}

/** As Codex and the SDK do: items are added before they grow, and the last event has the whole answer. */
function assemble(frames: readonly Frame[]): unknown {
  const texts = new Map<string, string>();
  const added = new Set<unknown>();
  let last: unknown;
  for (const [nth, { event, data }] of frames.entries()) {
    const type = textAt(data, 'type');
    require(event === type, `the event ${event} has the type ${type}`);
    require((type === 'response.created') === (nth === 0), 'a response begins once');
    const index = at(data, 'output_index');
    if (type === 'response.output_item.added') added.add(index);
    else require(index === undefined || added.has(index), 'an item is added before it grows');
    if (type === 'response.output_text.delta') {
      const key = `${index} ${at(data, 'content_index')}`;
      texts.set(key, (texts.get(key) ?? '') + textAt(data, 'delta'));
    }
    last = data;
  }
  const response = at(last, 'response');
  require(/^response\.(completed|incomplete)$/.test(textAt(last, 'type')) && isObject(response), 'it ends');
  for (const [key, text] of texts) {
    const [item, part] = key.split(' ').map(Number);
    require(textAt(response, 'output', item ?? 0, 'content', part ?? 0, 'text') ===
      text, 'the end repeats the text');
  }
  return response;
}
