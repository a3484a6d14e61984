import { isSameToTheDigit } from '../../../base/json/equal.ts';
import { Json } from '../../../base/json/json.ts';
import type { Channel, EndpointCodec, StreamWriter, WireAnswer } from '../codec.ts';
import { readErrorBody } from '../error-body.ts';
import { openPlace, type Place } from '../place.ts';
import { unwritable } from '../refusal.ts';
import { formatEvent } from '../sse.ts';
import { formatError, formatSubstitute, readCount, readMessagesAnswer } from './answer.ts';
import { readMessagesRequest } from './request.ts';
import { type DeltaKind, deltaKinds, endMembers, errorShape } from './shapes.ts';
import {
  type AssembledBlock,
  AssembledMessage,
  MessagesStreamReader,
  textKey,
  withMembers,
} from './stream-reader.ts';

/** `POST /v1/messages`: https://docs.anthropic.com/en/api/messages, checked against @anthropic-ai/sdk 1.12. */
export const messagesCodec: EndpointCodec = {
  name: 'messages',
  readRequest: readMessagesRequest,
  readAnswer: readMessagesAnswer,
  readError,
  substitute: formatSubstitute,
  stream: { reader: (rules) => new MessagesStreamReader(rules), writer: createStreamWriter },
  refusal: formatError,
};

/** `POST /v1/messages/count_tokens`: the request is judged like a call; the response holds counts. */
export const countTokensCodec: EndpointCodec = {
  name: 'count_tokens',
  readRequest: readMessagesRequest,
  readAnswer: readCount,
  readError,
  refusal: formatError,
};

function readError(body: string): WireAnswer {
  return readErrorBody(body, errorShape);
}

/** Writes events of `POST /v1/messages` that the accumulators of @anthropic-ai/sdk accept. */
function createStreamWriter(): StreamWriter {
  const sent = new AssembledMessage();
  const send = (data: string): string => {
    const event = openPlace(data);
    sent.add(event);
    return formatEvent(data, event.at('type')?.text ?? '');
  };
  return {
    verbatim: ({ data }) => (data === '' ? '' : send(data)),
    text: (channel, text) => {
      const opened = sent.isBegun ? [] : [send(beginMessage(unknownMessage))];
      return [...opened, ...textEvents(channel, text, sent).map(send)].join('');
    },
    finish: (body) => {
      const message = openPlace(body);
      if (sent.isEnded) throw unwritable('the client has the end of another answer');
      const events = [
        ...(sent.isBegun ? [] : [beginMessage(message)]),
        ...writeRest(message, sent.blocks),
        endMessage(message),
        '{"type":"message_stop"}',
      ];
      return events.map(send).join('');
    },
    fail: (refusal) => formatEvent(formatError(refusal), 'error'),
    wait: () => send('{"type":"ping"}'),
  };
}

function* textEvents({ member }: Channel, text: string, sent: AssembledMessage): Generator<string> {
  const type = member === 'reasoning' ? 'thinking' : 'text';
  const open = sent.openBlock;
  if (open !== undefined && open.type !== type) yield blockEvent('stop', sent.blocks.length - 1);
  if (open?.type !== type)
    yield blockEvent('start', sent.blocks.length, `"content_block":${emptyBlocks[type]}`);
  yield blockDelta(sent.blocks.length - 1, `${type}_delta`, type, JSON.stringify(text));
}

const emptyBlocks = {
  text: '{"type":"text","text":"","citations":null}',
  thinking: '{"type":"thinking","thinking":"","signature":""}',
} as const;

// --- the data of events ---

const unknownMessage = openPlace(
  JSON.stringify({
    id: 'msg_signalbox',
    type: 'message',
    role: 'assistant',
    model: '',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  }),
);

function beginMessage(message: Place): string {
  const ended = endMembers.filter((key) => key !== 'container' && message.at(key) !== undefined);
  const begun = new Map([['content', '[]'], ...ended.map((key) => [key, 'null'] as const)]);
  return `{"type":"message_start","message":${withMembers(message, begun)}}`;
}

function endMessage(message: Place): string {
  const texts = (...keys: readonly string[]) =>
    keys.flatMap((key) => {
      const place = message.at(key);
      return place === undefined ? [] : [`${JSON.stringify(key)}:${place.json.text}`];
    });
  const late = texts('usage', 'context_management', 'input_transformations');
  return `{${['"type":"message_delta"', `"delta":{${texts(...endMembers).join(',')}}`, ...late].join(',')}}`;
}

function blockEvent(name: 'start' | 'delta' | 'stop', index: number, members?: string): string {
  return `{"type":"content_block_${name}","index":${index}${members === undefined ? '' : `,${members}`}}`;
}

function blockDelta(index: number, type: string, member: string, json: string): string {
  return blockEvent('delta', index, `"delta":{"type":"${type}","${member}":${json}}`);
}

function* blockDeltas(index: number, block: Place, from: number): Generator<string> {
  for (const [type, kind] of tellingDeltas(block)) {
    const place = block.at(kind.to);
    const tell = (json: string) => blockDelta(index, type, kind.from, json);
    if (kind.how === 'list') yield* place?.items.map(({ json }) => tell(json.text)) ?? [];
    // The arguments of an incomplete call are sent as raw text.
    else if (kind.how === 'json') yield tell(JSON.stringify(place?.text ?? place?.json.text));
    else {
      const text = place?.text?.slice(kind.how === 'grows' ? from : 0) ?? '';
      if (text !== '') yield tell(JSON.stringify(text));
    }
  }
}

function tellingDeltas(block: Place): (readonly [string, DeltaKind])[] {
  const type = typeOf(block) ?? '';
  return Object.entries(deltaKinds).filter(([, { of, how, to }]) => {
    const kind = block.at(to)?.kind;
    if (!of.includes(type) || how === 'all' || kind === undefined) return false;
    return how === 'json' || kind === (how === 'list' ? 'array' : 'string');
  });
}

const begun = { grows: '""', once: '""', list: '[]', json: '{}', all: '' } as const;

function* newBlock(index: number, block: Place, from: number): Generator<string> {
  const changes = new Map(tellingDeltas(block).map(([, { to, how }]) => [to, begun[how]]));
  yield blockEvent('start', index, `"content_block":${withMembers(block, changes)}`);
  yield* blockDeltas(index, block, from);
  yield blockEvent('stop', index);
}

// --- what a client lacks ---

/**
 * Adjacent texts may be divided into other blocks than the client's. Throws REPLY_MALFORMED if the client has other
 * content.
 */
function* writeRest(message: Place, sent: readonly AssembledBlock[]): Generator<string> {
  const blocks = message.at('content')?.items ?? [];
  // The first incomplete block, and the number of characters of its text that the client has.
  let at = 0;
  let taken = 0;
  const next = () => {
    at += 1;
    taken = 0;
  };
  const textLeft = () => blocks[at]?.at(textKey(typeOf(blocks[at])) ?? '')?.text?.slice(taken) ?? '';
  const isSame = ({ json }: AssembledBlock) => {
    const block = blocks[at];
    return block !== undefined && isSameToTheDigit(block.json, new Json(json));
  };
  const take = (text: string) => {
    if (!textLeft().startsWith(text)) throw contradicted();
    taken += text.length;
  };
  const takeText = (text: string) => {
    for (let left = text; left !== ''; ) {
      if (typeOf(blocks[at]) !== 'text') throw contradicted();
      const own = left.slice(0, textLeft().length);
      if (own === '') next();
      else take(own);
      left = left.slice(own.length);
    }
  };
  for (const [index, block] of sent.entries()) {
    const { type, text } = block;
    if (!block.isOpen) {
      if (taken === 0 && isSame(block)) next();
      else if (type === 'text') takeText(text);
      else {
        if (taken > 0 && textLeft() === '') next();
        if (taken > 0 || !isSame(block)) throw contradicted();
        next();
      }
      continue;
    }
    // A block that starts complete, such as encrypted thinking, lacks only its end.
    if (textKey(type) === undefined && isSame(block)) next();
    else {
      if (type === 'text') takeText(text);
      else if (type === 'thinking' && typeOf(blocks[at]) === type) take(text);
      else throw contradicted();
      const own = blocks[at];
      if (own !== undefined && typeOf(own) === type) {
        yield* blockDeltas(index, own, taken);
        next();
      }
    }
    yield blockEvent('stop', index);
  }
  let index = sent.length;
  for (; at < blocks.length; next()) {
    const own = blocks[at];
    if (own === undefined || (taken > 0 && textLeft() === '')) continue;
    yield* newBlock(index, own, taken);
    index += 1;
  }
}

function typeOf(block: Place | undefined): string | undefined {
  return block?.at('type')?.text;
}

function contradicted() {
  return unwritable('the answer does not begin with the part that was already sent');
}
