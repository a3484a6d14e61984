import { inputPieces, type Rendering, type ScriptedEvent, type ScriptedReply, toEvent } from './scripted.ts';

/** `POST /v1/chat/completions`. */
export const chatRendering: Rendering = {
  whole: (reply) => ({
    ...head(reply, 'chat.completion'),
    choices: indexes(reply).map((index) => ({
      index,
      message: {
        role: 'assistant',
        content: reply.pieces.length === 0 ? null : reply.pieces.join(''),
        refusal: null,
        ...(reply.calls.length > 0 && { tool_calls: reply.calls.map(toCall) }),
      },
      logprobs: null,
      finish_reason: finishOf(reply),
    })),
    usage: usageOf(reply),
  }),
  stream: streamChat,
};

function* streamChat(reply: ScriptedReply): Generator<ScriptedEvent> {
  const frame = (choices: unknown, more: object = {}, isPiece = false) =>
    toEvent({ ...head(reply, 'chat.completion.chunk'), choices, ...more }, { isPiece });
  const delta = (index: number, part: object, finish: string | null = null) => [
    { index, delta: part, logprobs: null, finish_reason: finish },
  ];
  for (const index of indexes(reply)) {
    yield frame(delta(index, { role: 'assistant', content: '', refusal: null }));
    for (const content of reply.pieces) yield frame(delta(index, { content }), {}, true);
    for (const [at, call] of reply.calls.entries()) {
      const begun = {
        index: at,
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: '' },
      };
      yield frame(delta(index, { tool_calls: [begun] }));
      for (const piece of inputPieces(call.input)) {
        const more = { index: at, function: { arguments: piece } };
        yield frame(delta(index, { tool_calls: [more] }), {}, true);
      }
    }
    yield frame(delta(index, {}, finishOf(reply)));
  }
  if (reply.tellsUsage) yield frame([], { usage: usageOf(reply) });
  yield { text: 'data: [DONE]\n\n', isPiece: false };
}

function head({ id, model }: ScriptedReply, object: string) {
  return { id: `chatcmpl-${id}`, object, created: 0, model };
}

function indexes({ choices }: ScriptedReply): number[] {
  return Array.from({ length: choices }, (_, index) => index);
}

function toCall({ id, name, input }: ScriptedReply['calls'][number]) {
  return { id, type: 'function', function: { name, arguments: input } };
}

function finishOf({ finish }: ScriptedReply): string {
  if (finish === 'other') return 'stop';
  return finish.replace('-', '_');
}

function usageOf({ usage: { input, output } }: ScriptedReply) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
