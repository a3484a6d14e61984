import { type Making, nameOf, only } from './scene.ts';

export function requestOf({ slot, has, json }: Making) {
  const calls = ['call name', 'call args', 'result'].some(has);
  const args = json({ to: slot('call args') });
  return {
    model: 'm-responses',
    store: false,
    ...only(has('instructions'), { instructions: slot('instructions') }),
    input: has('input')
      ? slot('input')
      : [
          {
            type: 'message',
            role: 'user',
            content: [{ type: 'input_text', text: slot('user') }],
            ...only(has('unknown item member'), { mood: slot('unknown item member') }),
          },
          ...(has('assistant') || has('assistant refusal')
            ? [
                {
                  type: 'message',
                  role: 'assistant',
                  content: [
                    { type: 'output_text', text: slot('assistant'), annotations: [] },
                    ...(has('assistant refusal')
                      ? [{ type: 'refusal', refusal: slot('assistant refusal') }]
                      : []),
                  ],
                },
              ]
            : []),
          ...(has('reasoning')
            ? [
                {
                  type: 'reasoning',
                  id: 'rs_1',
                  summary: [{ type: 'summary_text', text: slot('reasoning') }],
                },
              ]
            : []),
          ...(calls
            ? [
                {
                  type: 'function_call',
                  call_id: 'call_1',
                  name: nameOf(slot('call name')),
                  arguments: args,
                },
                { type: 'function_call_output', call_id: 'call_1', output: slot('result') },
              ]
            : []),
        ],
    ...only(has('tool description') || has('tool parameters'), {
      tools: [
        {
          type: 'function',
          name: 'send',
          description: slot('tool description'),
          parameters: { type: 'object', properties: { to: { const: slot('tool parameters') } } },
          strict: false,
        },
      ],
    }),
    ...only(has('text format'), {
      text: { format: { type: 'json_schema', name: 'x', schema: { const: slot('text format') } } },
    }),
    ...only(has('user id'), { user: slot('user id') }),
    ...only(has('metadata'), { metadata: { a: slot('metadata') } }),
    ...only(has('unknown member'), { note: slot('unknown member') }),
  };
}

export function answerOf({ slot, has, json }: Making) {
  const calls = ['call name', 'call args'].some(has);
  const text = (channel: string) => ({
    type: 'output_text',
    annotations:
      has('annotation') && channel === 'text'
        ? [
            {
              type: 'url_citation',
              start_index: 0,
              end_index: 1,
              url: 'https://a.example',
              title: slot('annotation'),
            },
          ]
        : [],
    logprobs: [],
    text: slot(channel),
  });
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'm-responses',
    output: [
      ...(has('reasoning')
        ? [{ id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: slot('reasoning') }] }]
        : []),
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [
          has('refusal') ? { type: 'refusal', refusal: slot('refusal') } : text('text'),
          ...(has('second text') ? [text('second text')] : []),
        ],
        ...only(has('unknown item member'), { mood: slot('unknown item member') }),
      },
      ...(calls
        ? [
            {
              id: 'fc_1',
              type: 'function_call',
              status: 'completed',
              call_id: 'call_1',
              name: nameOf(slot('call name')),
              arguments: json({ to: slot('call args') }),
            },
          ]
        : []),
    ],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 7,
    },
    ...only(has('unknown member'), { note: slot('unknown member') }),
  };
}
