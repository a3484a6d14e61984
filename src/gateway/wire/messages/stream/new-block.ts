import type { Place } from '../../place.ts';
import { callTypes } from '../blocks/block-kinds.ts';
import { withMembers } from './assembled-block.ts';
import { blockStart, blockStop, delta } from './events.ts';

/** The data of the events that tell a whole block, its text from a position on. */
export function* newBlock(index: number, block: Place, from: number): Generator<string> {
  const { changes, deltas } = divide(index, block, from);
  yield blockStart(index, withMembers(block, changes));
  yield* deltas;
  yield blockStop(index);
}

interface DividedBlock {
  /** What its beginning has in place of what the deltas tell. */
  readonly changes: ReadonlyMap<string, string>;
  readonly deltas: readonly string[];
}

function divide(index: number, block: Place, from: number): DividedBlock {
  const type = block.at('type')?.text ?? '';
  if (type === 'text') return divideText(index, block, from);
  if (type === 'thinking') {
    const thinking = block.at('thinking')?.text ?? '';
    const signature = block.at('signature');
    return {
      changes: new Map([
        ['thinking', '""'],
        ['signature', '""'],
      ]),
      deltas: [
        delta(index, 'thinking_delta', 'thinking', JSON.stringify(thinking.slice(from))),
        ...(signature === undefined
          ? []
          : [delta(index, 'signature_delta', 'signature', signature.json.text)]),
      ],
    };
  }
  const input = block.at('input');
  if (!callTypes.has(type) || input === undefined) return { changes: new Map(), deltas: [] };
  // Of a call that was cut off the text of its arguments is told as it came.
  const text = input.text ?? input.json.text;
  return {
    changes: new Map([['input', '{}']]),
    deltas: [delta(index, 'input_json_delta', 'partial_json', JSON.stringify(text))],
  };
}

function divideText(index: number, block: Place, from: number): DividedBlock {
  const text = block.at('text')?.text ?? '';
  const citations = block.at('citations');
  const isCited = citations?.kind === 'array';
  return {
    changes: new Map([['text', '""'], ...(isCited ? [['citations', '[]'] as const] : [])]),
    deltas: [
      ...(text.length > from ? [delta(index, 'text_delta', 'text', JSON.stringify(text.slice(from)))] : []),
      ...(isCited ? citations.items : []).map(({ json }) =>
        delta(index, 'citations_delta', 'citation', json.text),
      ),
    ],
  };
}
