import { isSealed } from '../../../../text/sealed.ts';
import type { StreamPart, StreamReader, WireRules } from '../../codec.ts';
import { invalidAnswer, unknownInAnswer } from '../../faults.ts';
import { Leftovers } from '../../leftovers.ts';
import { openPlace, type Place } from '../../place.ts';
import type { SseEvent } from '../../sse.ts';
import { openStrictly } from '../../strict-json.ts';
import { answerContext, readMessagesAnswer } from '../answer/answer.ts';
import { answerShape } from '../answer/answer-shape.ts';
import { findBlockKind } from '../blocks/block-kinds.ts';
import { readBlock } from '../blocks/block-reader.ts';
import { collectLeftovers, isOfShape } from '../blocks/shapes.ts';
import { startTold } from '../blocks/told-content.ts';
import { AssembledMessage } from './assembled-message.ts';
import { deltaShapes, eventShapes } from './event-shapes.ts';
import { withStreamLeftovers } from './stream-leftovers.ts';

/** Reads the events of `POST /v1/messages` with `stream: true`. */
export function createStreamReader(rules: WireRules): StreamReader {
  const message = new AssembledMessage();
  /** What events have that the whole answer has not: clients may read it. */
  const leftovers = new Leftovers();
  let count = 0;
  return {
    push: (event) => {
      count += 1;
      const data = readData(event);
      if (data === undefined) return { kind: 'free' };
      const type = data.at('type')?.text ?? '';
      if (type === 'error') return { kind: 'error' };
      const isPlain = collectEvent(data, type, { leftovers, path: `event[${count}]` });
      const part = readEvent(data, type, { message, rules });
      return isPlain || part.kind === 'end' ? part : { kind: 'held' };
    },
    answer: () => {
      if (!message.isComplete) throw invalidAnswer('its stream broke off');
      return withStreamLeftovers(readMessagesAnswer(message.json, rules), leftovers);
    },
  };
}

/** The data of an event; undefined for one that clients do not read. Throws RefusedCall (502). */
function readData({ event, data }: SseEvent): Place | undefined {
  if (data === undefined || data === '') {
    if (event === undefined || event === 'ping') return undefined;
    throw invalidAnswer('an event of its stream has no data');
  }
  const place = openStrictly(data, (problem) => invalidAnswer(`an event of its stream ${problem}`));
  // Clients go by the name, by the type, or by both.
  if (place.kind !== 'object' || place.at('type')?.text !== event || event === undefined)
    throw invalidAnswer('an event of its stream has another name than type');
  return place;
}

/** Collects what is told nowhere else; whether there was nothing. */
function collectEvent(
  data: Place,
  type: string,
  { leftovers, path }: { readonly leftovers: Leftovers; readonly path: string },
): boolean {
  const shape = eventShapes.get(type);
  if (shape === undefined) throw unknownInAnswer('an event of an unknown type');
  const own = new Leftovers();
  for (const into of [own, leftovers]) {
    collectLeftovers(data, shape, path, into);
    const delta = type === 'content_block_delta' ? data.at('delta') : undefined;
    if (delta !== undefined) collectLeftovers(delta, deltaShape(delta), `${path}.delta`, into);
  }
  return own.isEmpty;
}

function deltaShape(delta: Place) {
  const type = delta.at('type')?.text ?? '';
  const shape = deltaShapes.get(type);
  if (shape === undefined) throw unknownInAnswer('a delta of an unknown type');
  return shape;
}

interface Reading {
  readonly message: AssembledMessage;
  readonly rules: WireRules;
}

function readEvent(data: Place, type: string, { message, rules }: Reading): StreamPart {
  switch (type) {
    case 'message_start':
      require(message.begin(data.at('message')), type);
      return isFree(data.at('message')) ? { kind: 'free' } : { kind: 'held' };
    case 'content_block_start':
      require(message.beginBlock(data.at('index')?.value, data.at('content_block')), type);
      return readBegunBlock(message, rules);
    case 'content_block_delta':
      require(message.addDelta(data.at('index')?.value, data.at('delta')), type);
      return readDelta(message, data.at('delta'));
    case 'content_block_stop':
      require(message.endBlock(data.at('index')?.value), type);
      return { kind: 'echo' };
    case 'message_delta':
      require(message.end(data), type);
      return { kind: 'held' };
    case 'message_stop':
      require(message.complete(), type);
      return { kind: 'end' };
    default:
      return { kind: 'free' };
  }
}

function require(isConsistent: boolean, type: string): void {
  if (!isConsistent) throw invalidAnswer(`a ${type} of its stream does not belong there`);
}

/** Whether a beginning tells nothing of the answer. */
function isFree(message: Place | undefined): boolean {
  return message === undefined || isOfShape(message, answerShape);
}

function readBegunBlock(message: AssembledMessage, rules: WireRules): StreamPart {
  const block = message.openBlock;
  const kind = findBlockKind(block?.type);
  if (block === undefined || (kind === undefined && !rules.opaque.has(block.type)))
    throw unknownInAnswer('a content block of an unknown type');
  // A block that begins must be one that an answer could have.
  const told = startTold(undefined);
  const entry = message.blocks.length - 1;
  const path = `content[${entry}]`;
  readBlock(
    { block: openPlace(block.json), owner: block.begun, entry, path, fullPath: path },
    told,
    answerContext(rules),
  );
  const role = kind?.role;
  const isText = role === 'text' || role === 'thinking' || role === 'redacted';
  if (!isText || told.citations.length > 0 || !told.leftovers.isEmpty) return { kind: 'held' };
  return textPart(message, block.text);
}

function readDelta(message: AssembledMessage, delta: Place | undefined): StreamPart {
  switch (delta?.at('type')?.text) {
    case 'text_delta':
      return textPart(message, delta.at('text')?.text ?? '');
    case 'thinking_delta':
      return textPart(message, delta.at('thinking')?.text ?? '');
    case 'signature_delta': {
      const signature = delta.at('signature')?.text ?? '';
      return signature === '' || isSealed(signature) ? { kind: 'text', deltas: [] } : { kind: 'held' };
    }
    default:
      return { kind: 'held' };
  }
}

/** Text of the open block; without any, the event goes out with what is around it. */
function textPart(message: AssembledMessage, text: string): StreamPart {
  if (text === '') return { kind: 'text', deltas: [] };
  const member = message.openBlock?.type === 'thinking' ? 'reasoning' : 'content';
  const channel = { key: `${message.blocks.length - 1}`, choice: 0, member } as const;
  return { kind: 'text', deltas: [{ channel, text }] };
}
