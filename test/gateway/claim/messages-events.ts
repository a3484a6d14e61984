import type { answerOf } from './messages-bodies.ts';
import { cut, type Frame, listAt, type Making } from './scene.ts';

export function eventsOf(answer: ReturnType<typeof answerOf>, making: Making): Frame[] {
  const { content, stop_reason, stop_sequence, usage, ...top } = answer;
  const frame = (type: string, members: object): Frame => ({ event: type, data: { type, ...members } });
  const begun = { ...top, content: [], stop_reason: null, stop_sequence: null };
  return [
    frame('message_start', { message: { ...begun, usage: { input_tokens: 3, output_tokens: 1 } } }),
    frame('ping', {}),
    ...content.flatMap((block, index) => [
      frame('content_block_start', { index, content_block: emptied(block) }),
      ...deltasOf(block, making).map((delta) => frame('content_block_delta', { index, delta })),
      frame('content_block_stop', { index }),
    ]),
    frame('message_delta', { delta: { stop_reason, stop_sequence }, usage }),
    frame('message_stop', {}),
  ];
}

type Block = ReturnType<typeof answerOf>['content'][number];

function emptied(block: Block): object {
  if ('thinking' in block) return { ...block, thinking: '', signature: '' };
  if ('input' in block) return { ...block, input: {} };
  return { ...block, text: '', ...('citations' in block && { citations: [] }) };
}

function deltasOf(block: Block, { dice, json }: Making): object[] {
  if ('thinking' in block) {
    const texts = cut(block.thinking, dice).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return [...texts, { type: 'signature_delta', signature: block.signature }];
  }
  if ('input' in block) {
    return cut(json(block.input), dice).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  }
  return [
    ...cut(block.text, dice).map((text) => ({ type: 'text_delta', text })),
    ...listAt(block, 'citations').map((citation) => ({ type: 'citations_delta', citation })),
  ];
}
