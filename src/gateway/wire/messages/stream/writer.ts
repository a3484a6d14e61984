import type { Channel, StreamWriter } from '../../codec.ts';
import { unwritable } from '../../faults.ts';
import { openPlace } from '../../place.ts';
import { formatEvent } from '../../sse.ts';
import { formatError } from '../answer/error-body.ts';
import { AssembledMessage } from './assembled-message.ts';
import { beginMessage, blockStart, blockStop, delta, endMessage } from './events.ts';
import { writeRest } from './rest.ts';

/** Writes the events of `POST /v1/messages` with `stream: true`, in forms that the accumulators of @anthropic-ai/sdk accept. */
export function createStreamWriter(): StreamWriter {
  const sent = new AssembledMessage();
  const note = (text: string): string => {
    noteEvent(text, sent);
    return formatNamed(text);
  };
  return {
    verbatim: ({ data }) => {
      if (data === '') return '';
      noteEvent(data, sent);
      return formatNamed(data);
    },
    text: (channel, text) => {
      const opened = sent.isBegun ? [] : [note(beginMessage(undefined))];
      return [...opened, ...textEvents(channel, text, sent).map(note)].join('');
    },
    finish: (body) => finish(body, sent),
    fail: (refusal) => formatEvent(formatError(refusal), 'error'),
    wait: () => formatNamed('{"type":"ping"}'),
  };
}

/** The text goes on in the open block of its kind, or begins one. */
function* textEvents({ member }: Channel, text: string, sent: AssembledMessage): Generator<string> {
  const type = member === 'reasoning' ? 'thinking' : 'text';
  const open = sent.openBlock;
  if (open !== undefined && open.type !== type) yield blockStop(sent.blocks.length - 1);
  if (open?.type !== type) yield blockStart(sent.blocks.length, emptyBlocks[type]);
  yield type === 'thinking'
    ? delta(sent.blocks.length - 1, 'thinking_delta', 'thinking', JSON.stringify(text))
    : delta(sent.blocks.length - 1, 'text_delta', 'text', JSON.stringify(text));
}

const emptyBlocks = {
  text: '{"type":"text","text":"","citations":null}',
  thinking: '{"type":"thinking","thinking":"","signature":""}',
} as const;

function finish(body: string, sent: AssembledMessage): string {
  const message = openPlace(body);
  if (sent.isEnded) throw unwritable('the client has the end of another answer');
  const events = [
    ...(sent.isBegun ? [] : [beginMessage(message)]),
    ...writeRest(message, sent.blocks),
    ...endMessage(message),
  ];
  return events.map(formatNamed).join('');
}

/** Notes what a client has; other events tell nothing of the answer. */
function noteEvent(data: string, sent: AssembledMessage): void {
  const event = openPlace(data);
  const index = event.at('index')?.value;
  switch (event.at('type')?.text) {
    case 'message_start':
      sent.begin(event.at('message'));
      return;
    case 'content_block_start':
      sent.beginBlock(index, event.at('content_block'));
      return;
    case 'content_block_delta':
      sent.addDelta(index, event.at('delta'));
      return;
    case 'content_block_stop':
      sent.endBlock(index);
      return;
    case 'message_delta':
      sent.end(event);
      return;
    case 'message_stop':
      sent.complete();
  }
}

function formatNamed(data: string): string {
  return formatEvent(data, openPlace(data).at('type')?.text ?? '');
}
