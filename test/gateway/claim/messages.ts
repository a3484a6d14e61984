import { answerOf, requestOf } from './messages-bodies.ts';
import { eventsOf } from './messages-events.ts';
import { at, type Endpoint, type Frame, isObject, listAt, only, require, textAt } from './scene.ts';

const asked = [
  'system',
  'system blocks',
  'user',
  'user blocks',
  'assistant',
  'assistant thinking',
  'call name',
  'call args',
  'result',
  'result blocks',
  'tool description',
  'tool parameters',
  'stop',
  'user id',
  'unknown member',
  'unknown block member',
];

export const messages: Endpoint = {
  name: 'messages',
  hasStreams: true,
  asked,
  answered: [
    'text',
    'second text',
    'thinking',
    'call name',
    'call args',
    'citation',
    'stop sequence',
    'unknown member',
    'unknown block member',
  ],
  scene: (making) => ({
    path: '/v1/messages',
    request: requestOf(making),
    answer: answerOf(making),
    events: eventsOf(answerOf(making), making),
  }),
  view: (answer) => ({
    text: blocksOf(answer, 'text')
      .map((block) => textAt(block, 'text'))
      .join(''),
    thinking: blocksOf(answer, 'thinking')
      .map((block) => textAt(block, 'thinking'))
      .join(''),
    calls: blocksOf(answer, 'tool_use')
      .map((block) => `${textAt(block, 'name')}(${JSON.stringify(at(block, 'input'))})`)
      .join(' '),
  }),
  assemble,
};

export const countTokens: Endpoint = {
  name: 'count_tokens',
  hasStreams: false,
  asked,
  answered: ['unknown member'],
  scene: (making) => {
    const { slot, has } = making;
    const { max_tokens: _, ...request } = requestOf(making);
    return {
      path: '/v1/messages/count_tokens',
      request,
      answer: { input_tokens: 7, ...only(has('unknown member'), { note: slot('unknown member') }) },
      events: [],
    };
  },
  view: (answer) => ({ tokens: String(at(answer, 'input_tokens')) }),
  assemble,
};

function blocksOf(answer: unknown, type: string): unknown[] {
  return listAt(answer, 'content').filter((block) => at(block, 'type') === type);
}

/** Joins events as the SDK's MessageStream does. */
function assemble(frames: readonly Frame[]): unknown {
  const content: Record<string, unknown>[] = [];
  let hasEnded = false;
  let reason: unknown;
  for (const [nth, { event, data }] of frames.entries()) {
    const type = textAt(data, 'type');
    require(event === type, `the event ${event} has the type ${type}`);
    require((nth === 0) === (type === 'message_start') || type === 'ping', 'a message begins once');
    const index = Number(at(data, 'index'));
    if (type === 'content_block_start') {
      const block = at(data, 'content_block');
      require(index === content.length && isObject(block), 'blocks come in order');
      if (isObject(block)) content.push({ ...block });
    }
    const block = content[index];
    if (type === 'content_block_delta') {
      require(block !== undefined, 'a delta has a block');
      if (block !== undefined) addDelta(block, at(data, 'delta'));
    }
    if (type === 'content_block_stop' && typeof block?.['json'] === 'string')
      block['input'] = JSON.parse(block['json']);
    if (type === 'message_delta') reason = at(data, 'delta', 'stop_reason');
    hasEnded = type === 'message_stop';
  }
  require(hasEnded && typeof reason === 'string', 'a message ends with its reason');
  return { content };
}

function addDelta(block: Record<string, unknown>, delta: unknown): void {
  const type = textAt(delta, 'type');
  if (type === 'text_delta') {
    require(block['type'] === 'text', 'text belongs into a text block');
    block['text'] = textAt(block, 'text') + textAt(delta, 'text');
  }
  if (type === 'thinking_delta') block['thinking'] = textAt(block, 'thinking') + textAt(delta, 'thinking');
  if (type === 'input_json_delta') {
    require(block['type'] === 'tool_use', 'input belongs into a call');
    block['json'] = textAt(block, 'json') + textAt(delta, 'partial_json');
  }
}
