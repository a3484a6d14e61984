import { inputPieces, type Rendering, type ScriptedEvent, type ScriptedReply, toEvent } from './scripted.ts';

/** `POST /v1/messages`. */
export const messagesRendering: Rendering = {
  whole: (reply) => ({
    ...head(reply),
    content: [
      ...(reply.pieces.length === 0 ? [] : [{ type: 'text', text: reply.pieces.join('') }]),
      ...reply.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: JSON.parse(input) })),
    ],
    stop_reason: stopOf(reply),
    stop_sequence: null,
    usage: { input_tokens: reply.usage.input, output_tokens: reply.usage.output },
  }),
  stream: streamMessages,
};

function* streamMessages(reply: ScriptedReply): Generator<ScriptedEvent> {
  const { pieces, calls, usage } = reply;
  const event = (name: string, data: object, isPiece = false) =>
    toEvent({ type: name, ...data }, { name, isPiece });
  const message = { ...head(reply), content: [], stop_reason: null, stop_sequence: null };
  yield event('message_start', {
    message: { ...message, usage: { input_tokens: usage.input, output_tokens: 1 } },
  });
  let index = 0;
  function* block(start: object, deltas: readonly object[]): Generator<ScriptedEvent> {
    yield event('content_block_start', { index, content_block: start });
    for (const delta of deltas) yield event('content_block_delta', { index, delta }, true);
    yield event('content_block_stop', { index });
    index += 1;
  }
  if (pieces.length > 0) {
    const deltas = pieces.map((text) => ({ type: 'text_delta', text }));
    yield* block({ type: 'text', text: '' }, deltas);
  }
  for (const { id, name, input } of calls) {
    const deltas = inputPieces(input).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    yield* block({ type: 'tool_use', id, name, input: {} }, deltas);
  }
  const delta = { stop_reason: stopOf(reply), stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: usage.output } });
  yield event('message_stop', {});
}

function head({ id, model }: ScriptedReply) {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model };
}

function stopOf({ finish }: ScriptedReply): string {
  switch (finish) {
    case 'length':
      return 'max_tokens';
    case 'tool-calls':
      return 'tool_use';
    case 'content-filter':
      return 'refusal';
    default:
      return 'end_turn';
  }
}
