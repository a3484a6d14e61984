import { at, type Endpoint, only } from './scene.ts';

export const embeddings: Endpoint = {
  name: 'embeddings',
  hasStreams: false,
  asked: ['input', 'inputs', 'user id', 'unknown member'],
  answered: ['unknown member', 'unknown item member'],
  scene: ({ slot, has }) => ({
    path: '/v1/embeddings',
    request: {
      model: 'm-chat',
      input: has('inputs') ? ['first', slot('inputs')] : slot('input'),
      encoding_format: 'float',
      ...only(has('user id'), { user: slot('user id') }),
      ...only(has('unknown member'), { note: [{ a: slot('unknown member') }] }),
    },
    answer: {
      object: 'list',
      data: [
        {
          object: 'embedding',
          index: 0,
          embedding: [0.25, -1],
          ...only(has('unknown item member'), { note: slot('unknown item member') }),
        },
      ],
      model: 'm-chat',
      usage: { prompt_tokens: 3, total_tokens: 3 },
      ...only(has('unknown member'), { note: slot('unknown member') }),
    },
    events: [],
  }),
  view: (answer) => ({ vector: JSON.stringify(at(answer, 'data', 0, 'embedding')) }),
  assemble: () => {
    throw new Error('embeddings have no streams');
  },
};
