import type { MockResponse } from '../../../models/open/mock-script.ts';
import type { TokenUsage } from '../../wire/codec.ts';

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

/** What a script says to one call, in no endpoint's form. */
export interface ScriptedReply {
  /** Unique within the process. */
  readonly id: string;
  readonly model: string;
  /** The text in the pieces in which it is streamed. */
  readonly pieces: readonly string[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly finish: NonNullable<MockResponse['finishReason']>;
  readonly usage: TokenUsage;
  /** How many answers the request asks for; all say the same. */
  readonly choices: number;
  /** Of a chat: whether a stream ends with its usage. */
  readonly tellsUsage: boolean;
}

/** An event of a stream, and whether the script pauses before it. */
export interface ScriptedEvent {
  readonly text: string;
  readonly isPiece: boolean;
}

/** How one endpoint spells a script. */
export interface Rendering {
  /** The unstreamed body. */
  whole(reply: ScriptedReply): unknown;
  /** The events of a stream. */
  stream(reply: ScriptedReply): Iterable<ScriptedEvent>;
}

/** The text of a JSON object as a stream of `data:` lines, under a name or without one. */
export function toEvent(data: unknown, { name, isPiece = false }: EventOptions = {}): ScriptedEvent {
  const json = JSON.stringify(data);
  return { text: name === undefined ? `data: ${json}\n\n` : `event: ${name}\ndata: ${json}\n\n`, isPiece };
}

interface EventOptions {
  readonly name?: string;
  readonly isPiece?: boolean;
}

/** Arguments in the pieces in which they are streamed. */
export function inputPieces(input: string): readonly string[] {
  return input.match(/.{1,16}/gsu) ?? [];
}
