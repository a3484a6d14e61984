import { isSameToTheDigit } from '../../../json/equal.ts';
import { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import { openPlace, type Place } from '../place.ts';
import type { ClientItem } from './client-view.ts';

/** An event without its `type` and numbers: members as JSON text. */
type Send = (type: string, members: Readonly<Record<string, string>>) => void;

/** An item that is to be sent, as far as a client lacks it. */
interface OutgoingItem {
  readonly place: Place;
  /** The id under which the client knows it. */
  readonly id: string;
  /** What the client has of it; undefined: nothing. */
  readonly have: ClientItem | undefined;
  readonly send: Send;
}

/** The events of an item that a client lacks. Throws REPLY_MALFORMED when it has something that the item does not begin with. */
export function sendItem(item: OutgoingItem): void {
  const { place, have, send } = item;
  if (have?.done !== undefined) {
    if (!isSameToTheDigit(have.done.json, place.json)) throw contradiction();
    return;
  }
  const type = place.at('type')?.text ?? '';
  if (have !== undefined && have.type !== type) throw contradiction();
  const hasId = place.at('id')?.kind === 'string';
  if (have === undefined)
    send('output_item.added', { item: hasId ? emptyItem(place, type) : place.json.text });
  if (hasId) sendInside(item, type);
  send('output_item.done', { item: place.json.text });
}

function sendInside(item: OutgoingItem, type: string): void {
  if (type === 'reasoning') sendParts(item, summaryParts);
  if (type === 'message' || type === 'reasoning') sendParts(item, messageParts);
  else sendText(item, type);
}

function sendText(item: OutgoingItem, type: string): void {
  const streamed = streamedTexts[type];
  const text = streamed === undefined ? undefined : item.place.at(streamed.member)?.text;
  if (streamed === undefined || text === undefined) return;
  const { have, id, send } = item;
  const rest = restOf(text, have?.texts.get(streamed.member));
  const about = { item_id: JSON.stringify(id) };
  if (rest !== '') send(`${streamed.event}.delta`, { ...about, delta: JSON.stringify(rest) });
  if (have?.ended.has(streamed.member) === true) return;
  send(`${streamed.event}.done`, { ...about, [streamed.member]: JSON.stringify(text) });
}

/** Kinds of items with one text that is streamed. */
const streamedTexts: Readonly<Record<string, { readonly member: string; readonly event: string }>> = {
  function_call: { member: 'arguments', event: 'function_call_arguments' },
  custom_tool_call: { member: 'input', event: 'custom_tool_call_input' },
  mcp_call: { member: 'arguments', event: 'mcp_call_arguments' },
  code_interpreter_call: { member: 'code', event: 'code_interpreter_call_code' },
};

interface PartKind {
  readonly list: string;
  /** The member of events that tells the index of the part. */
  readonly index: string;
  /** The event of a part without `.added` and `.done`. */
  readonly event: string;
}

const messageParts: PartKind = { list: 'content', index: 'content_index', event: 'content_part' };
const summaryParts: PartKind = { list: 'summary', index: 'summary_index', event: 'reasoning_summary_part' };

/** The member of a part that is streamed, and the name of its events. */
const partTexts: Readonly<Record<string, { readonly member: string; readonly event: string }>> = {
  output_text: { member: 'text', event: 'output_text' },
  refusal: { member: 'refusal', event: 'refusal' },
  reasoning_text: { member: 'text', event: 'reasoning_text' },
  summary_text: { member: 'text', event: 'reasoning_summary_text' },
};

function sendParts(item: OutgoingItem, kind: PartKind): void {
  const parts = item.place.at(kind.list)?.items ?? [];
  for (const path of item.have?.parts.keys() ?? []) {
    const [list, index] = path.split('/');
    if (list === kind.list && Number(index) >= parts.length) throw contradiction();
  }
  for (const [index, part] of parts.entries()) sendPart(item, { kind, part, index });
}

interface OutgoingPart {
  readonly kind: PartKind;
  readonly part: Place;
  readonly index: number;
}

function sendPart({ id, have, send }: OutgoingItem, { kind, part, index }: OutgoingPart): void {
  const path = `${kind.list}/${index}`;
  const about = { item_id: JSON.stringify(id), [kind.index]: String(index) };
  const streamed = partTexts[part.at('type')?.text ?? ''];
  const text = streamed === undefined ? undefined : (part.at(streamed.member)?.text ?? '');
  const sent = streamed === undefined ? undefined : have?.texts.get(`${path}/${streamed.member}`);
  const rest = text === undefined ? '' : restOf(text, sent);
  const openType = have?.parts.get(path);
  if (openType !== undefined && openType !== part.at('type')?.text) throw contradiction();
  if (have?.ended.has(path) === true) {
    if (rest !== '') throw contradiction();
    return;
  }
  if (openType === undefined)
    send(`${kind.event}.added`, { ...about, part: emptyPart(part, streamed?.member) });
  if (streamed !== undefined && text !== undefined) {
    const tokens = streamed.event === 'output_text' ? { logprobs: '[]' } : {};
    const textPath = `${path}/${streamed.member}`;
    if (rest !== '' && have?.ended.has(textPath) === true) throw contradiction();
    if (rest !== '') send(`${streamed.event}.delta`, { ...about, delta: JSON.stringify(rest), ...tokens });
    for (const [at, annotation] of (part.at('annotations')?.items ?? []).entries()) {
      if (have?.parts.has(`${path}/annotations/${at}`) === true) continue;
      const members = { annotation_index: String(at), annotation: annotation.json.text };
      send('output_text.annotation.added', { ...about, ...members });
    }
    if (have?.ended.has(textPath) !== true)
      send(`${streamed.event}.done`, { ...about, [streamed.member]: JSON.stringify(text), ...tokens });
  }
  send(`${kind.event}.done`, { ...about, part: part.json.text });
}

/** What is left of a text behind what the client has of it. Throws REPLY_MALFORMED. */
function restOf(text: string, sent = ''): string {
  if (!text.startsWith(sent)) throw contradiction();
  return text.slice(sent.length);
}

function contradiction(): Error {
  return unwritable('the answer does not begin with what has already gone out of it');
}

/** The item at its beginning. */
function emptyItem({ json }: Place, type: string): string {
  const root = openPlace(json.text);
  const edits = new Edits(root.source);
  const status = root.at('status');
  if (status?.kind === 'string') edits.replaceText(status, 'in_progress');
  for (const key of ['content', 'summary']) {
    const list = root.at(key);
    if (list?.kind === 'array' && (type === 'message' || type === 'reasoning')) edits.replace(list, '[]');
  }
  const text = root.at(streamedTexts[type]?.member ?? '');
  if (text?.kind === 'string') edits.replaceText(text, '');
  return edits.apply();
}

/** The part at its beginning. */
function emptyPart({ json }: Place, member: string | undefined): string {
  const root = openPlace(json.text);
  const edits = new Edits(root.source);
  const text = root.at(member ?? '');
  if (text?.kind === 'string') edits.replaceText(text, '');
  for (const key of ['annotations', 'logprobs']) {
    const list = root.at(key);
    if (list?.kind === 'array') edits.replace(list, '[]');
  }
  return edits.apply();
}
