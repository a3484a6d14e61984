import {
  at,
  cut,
  type Dice,
  type Endpoint,
  type Frame,
  isObject,
  listAt,
  type Making,
  nameOf,
  only,
  require,
  textAt,
} from './scene.ts';

const id = 'chatcmpl-1';

export const chat: Endpoint = {
  name: 'chat',
  hasStreams: true,
  asked: [
    'system',
    'developer',
    'user',
    'user parts',
    'user name',
    'assistant',
    'assistant refusal',
    'call name',
    'call args',
    'result',
    'tool description',
    'tool parameters',
    'response format',
    'stop',
    'user id',
    'metadata',
    'unknown member',
    'unknown message member',
  ],
  answered: [
    'content',
    'reasoning',
    'refusal',
    'call name',
    'call args',
    'second call args',
    'choice 1',
    'annotation',
    'logprobs',
    'unknown member',
    'unknown message member',
  ],
  scene: (making) => ({
    path: '/v1/chat/completions',
    request: requestOf(making),
    answer: answerOf(making),
    events: eventsOf(answerOf(making), making.dice),
  }),
  view: (answer) =>
    Object.fromEntries(
      listAt(answer, 'choices').flatMap((choice, index) => [
        [`content ${index}`, textAt(choice, 'message', 'content')],
        [`reasoning ${index}`, textAt(choice, 'message', 'reasoning_content')],
        [`refusal ${index}`, textAt(choice, 'message', 'refusal')],
        ...listAt(choice, 'message', 'tool_calls').map((call, nth) => [
          `call ${index} ${nth}`,
          `${textAt(call, 'function', 'name')}(${textAt(call, 'function', 'arguments')})`,
        ]),
      ]),
    ),
  assemble,
};

function requestOf({ slot, has, json }: Making) {
  return {
    model: 'm-chat',
    messages: [
      ...(has('system') ? [{ role: 'system', content: slot('system') }] : []),
      ...(has('developer') ? [{ role: 'developer', content: slot('developer') }] : []),
      {
        role: 'user',
        content: slot('user'),
        ...only(has('user name'), { name: slot('user name') }),
        ...only(has('unknown message member'), { mood: { of: slot('unknown message member') } }),
      },
      ...(has('assistant') ? [{ role: 'assistant', content: slot('assistant') }] : []),
      ...(has('assistant refusal')
        ? [{ role: 'assistant', content: null, refusal: slot('assistant refusal') }]
        : []),
      ...(has('call name') || has('call args') || has('result')
        ? [
            {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: 'call_1',
                  type: 'function',
                  function: { name: nameOf(slot('call name')), arguments: json({ to: slot('call args') }) },
                },
              ],
            },
            { role: 'tool', tool_call_id: 'call_1', content: slot('result') },
          ]
        : []),
      ...(has('user parts')
        ? [
            {
              role: 'user',
              content: [
                { type: 'text', text: slot('user parts').slice(0, 5) },
                { type: 'text', text: slot('user parts').slice(5) },
              ],
            },
          ]
        : []),
    ],
    ...only(has('tool description') || has('tool parameters'), {
      tools: [
        {
          type: 'function',
          function: {
            name: 'send',
            description: slot('tool description'),
            parameters: { type: 'object', properties: { to: { const: slot('tool parameters') } } },
          },
        },
      ],
    }),
    ...only(has('response format'), {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { const: slot('response format') } },
      },
    }),
    ...only(has('stop'), { stop: [slot('stop')] }),
    ...only(has('user id'), { user: slot('user id') }),
    ...only(has('metadata'), { metadata: { a: slot('metadata') } }),
    ...only(has('unknown member'), { [slot('unknown member')]: 1 }),
    temperature: 0.5,
  };
}

function answerOf({ slot, has, json }: Making) {
  const calls = ['call name', 'call args', 'second call args'].some(has);
  return {
    id,
    object: 'chat.completion',
    created: 1,
    model: 'm-chat',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          ...only(has('reasoning'), { reasoning_content: slot('reasoning') }),
          content: has('refusal') ? null : slot('content'),
          refusal: has('refusal') ? slot('refusal') : null,
          ...only(calls, {
            tool_calls: [
              call('call_1', nameOf(slot('call name')), json({ to: slot('call args') })),
              call('call_2', 'send', json({ to: slot('second call args') })),
            ],
          }),
          ...only(has('annotation'), {
            annotations: [
              {
                type: 'url_citation',
                url_citation: {
                  start_index: 0,
                  end_index: 1,
                  url: 'https://a.example',
                  title: slot('annotation'),
                },
              },
            ],
          }),
          ...only(has('unknown message member'), { mood: slot('unknown message member') }),
        },
        logprobs: has('logprobs')
          ? {
              content: [{ token: slot('logprobs'), logprob: -1, bytes: null, top_logprobs: [] }],
              refusal: null,
            }
          : null,
        finish_reason: calls ? 'tool_calls' : 'stop',
      },
      ...(has('choice 1')
        ? [
            {
              index: 1,
              message: { role: 'assistant', content: slot('choice 1'), refusal: null },
              logprobs: null,
              finish_reason: 'stop',
            },
          ]
        : []),
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ...only(has('unknown member'), { note: [slot('unknown member')] }),
  };
}

function call(callId: string, name: string, text: string) {
  return { id: callId, type: 'function', function: { name, arguments: text } };
}

function eventsOf(answer: ReturnType<typeof answerOf>, dice: Dice): Frame[] {
  const { choices, usage, ...top } = answer;
  const chunk = (members: object) => ({ data: { ...top, object: 'chat.completion.chunk', ...members } });
  const of = (index: number, delta: object, finish_reason: string | null = null, logprobs: unknown = null) =>
    chunk({ choices: [{ index, delta, logprobs, finish_reason }], usage: null });
  const lists = choices.map(({ index, message, finish_reason, logprobs }) => {
    const {
      content,
      refusal,
      role,
      tool_calls: calls = [],
      reasoning_content: reasoning,
      ...rest
    } = {
      tool_calls: [] as ReturnType<typeof call>[],
      reasoning_content: undefined as string | undefined,
      ...message,
    };
    return [
      of(index, { role, content: '', refusal: null }),
      ...(reasoning === undefined
        ? []
        : cut(reasoning, dice).map((text) => of(index, { reasoning_content: text }))),
      ...(content === null
        ? []
        : cut(content, dice).map((text, nth) =>
            of(index, { content: text }, null, nth === 0 ? logprobs : null),
          )),
      ...(refusal === null ? [] : cut(refusal, dice).map((text) => of(index, { refusal: text }))),
      ...(Object.keys(rest).length === 0 ? [] : [of(index, rest)]),
      ...calls.flatMap(({ id: callId, type, function: { name, arguments: text } }, nth) => [
        of(index, { tool_calls: [{ index: nth, id: callId, type, function: { name, arguments: '' } }] }),
        ...cut(text, dice).map((piece) =>
          of(index, { tool_calls: [{ index: nth, function: { arguments: piece } }] }),
        ),
      ]),
      of(index, {}, finish_reason),
    ];
  });
  return [...mix(lists, dice), chunk({ choices: [], usage }), { data: '[DONE]' }];
}

function mix<T>(lists: readonly (readonly T[])[], dice: Dice): T[] {
  const left = lists.map((list) => [...list]);
  const mixed: T[] = [];
  while (left.some((list) => list.length > 0)) {
    const list = left[dice(left.length)];
    const next = list?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return mixed;
}

/** Joins chunks as the accumulator of the SDK does. */
function assemble(frames: readonly Frame[]): unknown {
  require(frames.at(-1)?.data === '[DONE]', 'no [DONE]');
  const choices: Record<string, unknown>[] = [];
  for (const { event, data } of frames.slice(0, -1)) {
    require(event === undefined && isObject(data), 'a chunk is an object without a name');
    for (const choice of listAt(data, 'choices')) {
      const index = Number(at(choice, 'index'));
      choices[index] ??= { content: '', tool_calls: [] };
      addDelta(choices[index], at(choice, 'delta'));
    }
  }
  return { choices: choices.map((message) => ({ message })) };
}

function addDelta(message: Record<string, unknown>, delta: unknown): void {
  for (const member of ['content', 'reasoning_content', 'refusal']) {
    message[member] = textAt(message, member) + textAt(delta, member);
  }
  const calls = listAt(message, 'tool_calls');
  for (const told of listAt(delta, 'tool_calls')) {
    const index = Number(at(told, 'index'));
    const known = calls[index];
    require(known !== undefined || textAt(told, 'id') !== '', 'a call begins with its id');
    calls[index] = {
      function: {
        name: textAt(known, 'function', 'name') + textAt(told, 'function', 'name'),
        arguments: textAt(known, 'function', 'arguments') + textAt(told, 'function', 'arguments'),
      },
    };
  }
}
