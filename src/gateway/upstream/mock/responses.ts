import { inputPieces, type Rendering, type ScriptedEvent, type ScriptedReply, toEvent } from './scripted.ts';

/** `POST /v1/responses`. */
export const responsesRendering: Rendering = {
  whole: (reply) => toResponse(reply, statusOf(reply), outputOf(reply)),
  stream: streamResponses,
};

function* streamResponses(reply: ScriptedReply): Generator<ScriptedEvent> {
  let sequence = 0;
  const event = (name: string, data: object, isPiece = false) =>
    toEvent({ type: name, ...data, sequence_number: sequence++ }, { name, isPiece });
  const begun = toResponse(reply, 'in_progress', []);
  yield event('response.created', { response: begun });
  yield event('response.in_progress', { response: begun });
  const output = outputOf(reply);
  for (const [output_index, item] of output.entries()) {
    yield event('response.output_item.added', { output_index, item: emptied(item) });
    const at = { item_id: item.id, output_index };
    if (item.type === 'message') {
      const [part] = item.content;
      const place = { ...at, content_index: 0 };
      yield event('response.content_part.added', { ...place, part: { ...part, text: '' } });
      for (const delta of reply.pieces)
        yield event('response.output_text.delta', { ...place, delta, logprobs: [] }, true);
      yield event('response.output_text.done', { ...place, text: part?.text, logprobs: [] });
      yield event('response.content_part.done', { ...place, part });
    } else {
      for (const delta of inputPieces(item.arguments))
        yield event('response.function_call_arguments.delta', { ...at, delta }, true);
      const { name, arguments: told } = item;
      yield event('response.function_call_arguments.done', { ...at, name, arguments: told });
    }
    yield event('response.output_item.done', { output_index, item });
  }
  const status = statusOf(reply);
  yield event(`response.${status}`, { response: toResponse(reply, status, output) });
}

function outputOf({ id, pieces, calls }: ScriptedReply) {
  const text = pieces.join('');
  return [
    ...(pieces.length === 0
      ? []
      : [
          {
            ...{ id: `msg_${id}`, type: 'message' as const, status: 'completed', role: 'assistant' },
            content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
          },
        ]),
    ...calls.map((call, index) => ({
      ...{ id: `fc_${id}_${index}`, type: 'function_call' as const, status: 'completed' },
      ...{ arguments: call.input, call_id: call.id, name: call.name },
    })),
  ];
}

type Item = ReturnType<typeof outputOf>[number];

/** An item as it begins. */
function emptied(item: Item) {
  const status = 'in_progress';
  return item.type === 'message' ? { ...item, status, content: [] } : { ...item, status, arguments: '' };
}

function statusOf({ finish }: ScriptedReply): 'completed' | 'incomplete' {
  return finish === 'length' || finish === 'content-filter' ? 'incomplete' : 'completed';
}

function toResponse(
  { id, model, finish, usage: { input, output: answered } }: ScriptedReply,
  status: string,
  output: readonly Item[],
) {
  const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    ...{ id: `resp_${id}`, object: 'response', created_at: 0, status, background: false, error: null },
    incomplete_details: status === 'incomplete' ? { reason } : null,
    ...{ instructions: null, max_output_tokens: null, metadata: {}, model, output },
    ...{ parallel_tool_calls: true, previous_response_id: null, store: false, temperature: 1, top_p: 1 },
    ...{ text: { format: { type: 'text' } }, tool_choice: 'auto', tools: [], truncation: 'disabled' },
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: answered,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + answered,
          },
  };
}
