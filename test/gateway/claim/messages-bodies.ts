import { type Making, nameOf, only } from './scene.ts';

export function requestOf({ slot, has }: Making) {
  const calls = ['call name', 'call args', 'result', 'result blocks', 'assistant thinking'].some(has);
  return {
    model: 'm-messages',
    max_tokens: 100,
    ...only(has('system') && !has('system blocks'), { system: slot('system') }),
    ...only(has('system blocks'), {
      system: [
        { type: 'text', text: 'be kind' },
        { type: 'text', text: slot('system blocks'), cache_control: { type: 'ephemeral' } },
      ],
    }),
    messages: [
      { role: 'user', content: slot('user') },
      ...(has('assistant')
        ? [
            { role: 'assistant', content: slot('assistant') },
            { role: 'user', content: 'go on' },
          ]
        : []),
      ...(calls
        ? [
            {
              role: 'assistant',
              content: [
                ...(has('assistant thinking')
                  ? [{ type: 'thinking', thinking: slot('assistant thinking'), signature: 'c2lnbmVk' }]
                  : []),
                {
                  type: 'tool_use',
                  id: 'toolu_1',
                  name: nameOf(slot('call name')),
                  input: { to: slot('call args') },
                },
              ],
            },
            {
              role: 'user',
              content: [
                {
                  type: 'tool_result',
                  tool_use_id: 'toolu_1',
                  content: has('result blocks')
                    ? [{ type: 'text', text: slot('result blocks') }]
                    : slot('result'),
                },
              ],
            },
          ]
        : []),
      ...(has('user blocks') || has('unknown block member')
        ? [
            { role: 'assistant', content: 'yes' },
            {
              role: 'user',
              content: [
                { type: 'text', text: slot('user blocks').slice(0, 6) },
                { type: 'text', text: slot('user blocks').slice(6) },
                ...(has('unknown block member')
                  ? [{ type: 'text', text: 'more', mood: slot('unknown block member') }]
                  : []),
              ],
            },
          ]
        : []),
    ],
    ...only(has('tool description') || has('tool parameters'), {
      tools: [
        {
          name: 'send',
          description: slot('tool description'),
          input_schema: { type: 'object', properties: { to: { const: slot('tool parameters') } } },
        },
      ],
    }),
    ...only(has('stop'), { stop_sequences: [slot('stop')] }),
    ...only(has('user id'), { metadata: { user_id: slot('user id') } }),
    ...only(has('unknown member'), { note: { deep: [slot('unknown member')] } }),
  };
}

export function answerOf({ slot, has }: Making) {
  const calls = ['call name', 'call args'].some(has);
  const stop = calls ? 'tool_use' : has('stop sequence') ? 'stop_sequence' : 'end_turn';
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-messages',
    content: [
      ...(has('thinking') ? [{ type: 'thinking', thinking: slot('thinking'), signature: 'c2lnbmVk' }] : []),
      {
        type: 'text',
        text: slot('text'),
        ...only(has('citation'), {
          citations: [
            {
              type: 'char_location',
              cited_text: slot('citation'),
              document_index: 0,
              document_title: 'a title',
              start_char_index: 0,
              end_char_index: 4,
            },
          ],
        }),
        ...only(has('unknown block member'), { mood: slot('unknown block member') }),
      },
      ...(has('second text') ? [{ type: 'text', text: slot('second text') }] : []),
      ...(calls
        ? [
            {
              type: 'tool_use',
              id: 'toolu_1',
              name: nameOf(slot('call name')),
              input: { to: slot('call args') },
            },
          ]
        : []),
    ],
    stop_reason: stop,
    stop_sequence: has('stop sequence') && !calls ? slot('stop sequence') : null,
    usage: { input_tokens: 3, output_tokens: 4 },
    ...only(has('unknown member'), { note: slot('unknown member') }),
  };
}
