import type { ChatMessage } from '../../../contract/provider.ts';
import type { WireAnswer } from '../codec.ts';
import { Edits } from '../edits.ts';
import { invalidAnswer, unwritable } from '../faults.ts';
import { Leftovers } from '../leftovers.ts';
import { readOpenAiError } from '../openai-error.ts';
import { readOpenAiUsage } from '../openai-usage.ts';
import { openPlace, type Place } from '../place.ts';
import { isPlainId } from '../plain-id.ts';
import { isSameMessage, plainReplaced, requireTold } from '../replaced-messages.ts';
import { openStrictly } from '../strict-json.ts';

/** Reads an answer of `POST /v1/embeddings`: one message without a text; what is no vector, id or figure is its `other`. Throws RefusedCall (502). */
export function readEmbeddingsAnswer(body: string): WireAnswer {
  const place = openStrictly(body, (problem) => invalidAnswer(`its body ${problem}`));
  if (place.at('data') === undefined && place.at('error') !== undefined) return readOpenAiError(body);
  const { told, usage, leftovers } = readBody(place);
  return {
    body,
    messages: [told],
    usage,
    toolCalls: [],
    write: ([changed]) => {
      if (changed === undefined) throw unwritable('the message of an answer is missing');
      if (isSameMessage(told, changed)) return body;
      const edits = new Edits(body);
      leftovers.write(plainReplaced(changed)['other'], edits);
      const written = edits.apply();
      requireTold([readBody(openPlace(written)).told], [changed]);
      return written;
    },
  };
}

function readBody(place: Place) {
  const list = place.at('data');
  if (list?.kind !== 'array') throw invalidAnswer('it has no list of `data`');
  const leftovers = new Leftovers();
  leftovers.addMembers(place, toldOf(place));
  for (const [index, item] of list.items.entries()) addVector(item, `data[${index}]`, leftovers);
  const usage = readOpenAiUsage(place.at('usage'), leftovers, 'usage');
  const other = leftovers.json;
  const told: ChatMessage = {
    role: 'assistant',
    content: '',
    ...(usage && { cost_info: { input_tokens: usage.input, output_tokens: usage.output } }),
    ...(other && { other }),
  };
  return { told, usage, leftovers };
}

function toldOf(place: Place): ReadonlySet<string> {
  const told = ['data'];
  if (place.at('object')?.text === 'list') told.push('object');
  if (place.at('usage')?.kind === 'object') told.push('usage');
  for (const key of ['id', 'model']) if (isPlainId(place.at(key)?.text ?? ' ')) told.push(key);
  if (place.at('created')?.kind === 'number') told.push('created');
  return new Set(told);
}

function addVector(item: Place, path: string, leftovers: Leftovers): void {
  if (item.kind !== 'object') throw invalidAnswer(`${path} is no embedding`);
  const told = [];
  if (item.at('object')?.text === 'embedding') told.push('object');
  if (item.at('index')?.kind === 'number') told.push('index');
  if (isVector(item.at('embedding'))) told.push('embedding');
  leftovers.addMembers(item, new Set(told), path);
}

/** Whether it is numbers, or base64 of numbers of four bytes that spell no text. */
function isVector(place: Place | undefined): boolean {
  if (place === undefined) return false;
  if (place.kind === 'array') return /^[\d\s.,eE+[\]-]*$/.test(place.source.slice(place.start, place.end));
  return place.text !== undefined && isPackedVector(place.text);
}

function isPackedVector(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0 || bytes.toString('base64') !== text) return false;
  return !isUtf8(bytes);
}

/** Vectors of a few numbers may be text by chance, and are then shown, which costs little. */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
