import { openPlace, type Place } from '../../../../src/gateway/wire/place.ts';
import type { Dice } from '../scene.ts';
import { moreKeys, type SampleDocument, sampleDocuments } from './documents.ts';

/** A text that no sample contains, and that is no id, date, base64 or word of an API. */
export const marker = 'zq SECRET qz';

/** The part that every spelling of the marker in a mutant has, escaped or not. */
export const markerCore = 'q SECRET q';

export interface Mutant {
  readonly document: SampleDocument;
  readonly text: string;
  readonly what: string;
  /** The marker is in two pieces that only a client joins. */
  readonly isSplit?: true;
}

interface PreparedDocument {
  readonly document: SampleDocument;
  readonly frames: readonly Frame[];
}

interface Frame {
  readonly head: string;
  readonly json: string;
  /** Lazy, because most runs are short. */
  nodes: readonly Node[] | undefined;
}

interface Node {
  readonly place: Place;
  readonly path: string;
  readonly depth: number;
}

export function createMutator(
  documents: readonly SampleDocument[] = sampleDocuments,
): (dice: Dice) => Mutant {
  const prepared = documents.map(prepare);
  const keys = new Set(moreKeys);
  const types = new Set<string>(['text', 'x-unknown']);
  for (const { frames } of prepared)
    for (const { json } of frames) if (json !== '') collectWords(openPlace(json), keys, types);
  const words = { keys: [...keys], types: [...types] };
  const groups = Object.values(
    Object.groupBy(prepared, ({ document: { endpoint, side } }) => `${endpoint} ${side}`),
  );
  // Bodies with few samples are marked as often as bodies with many.
  const weighted = groups.flatMap((group = []) =>
    Array.from({ length: Math.ceil(Math.sqrt(group.length)) }, () => group),
  );
  return (dice) => mutate(pick(pick(weighted, dice), dice), words, dice);
}

interface Words {
  readonly keys: readonly string[];
  readonly types: readonly string[];
}

function prepare(document: SampleDocument): PreparedDocument {
  if (document.side !== 'stream')
    return { document, frames: [{ head: '', json: document.text, nodes: undefined }] };
  const blocks = document.text.split('\n\n').filter((block) => block !== '');
  const frames = blocks.map((block) => {
    const [, head = '', data = ''] = /^((?:event: [^\n]*\n)?)data: (.*)$/s.exec(block) ?? [];
    return { head, json: data === '[DONE]' ? '' : data, nodes: undefined };
  });
  return { document, frames };
}

function collectWords(place: Place, keys: Set<string>, types: Set<string>): void {
  for (const item of place.items) collectWords(item, keys, types);
  for (const [key, member] of place.members) {
    keys.add(key);
    if (key === 'type' && member.text !== undefined) types.add(member.text);
    collectWords(member, keys, types);
  }
}

function nodesOf(frame: Frame): readonly Node[] {
  if (frame.nodes !== undefined) return frame.nodes;
  const nodes: Node[] = [];
  const visit = (place: Place, path: string, depth: number) => {
    nodes.push({ place, path, depth });
    for (const [index, item] of place.items.entries()) visit(item, `${path}[${index}]`, depth + 1);
    for (const [key, member] of place.members) visit(member, `${path}.${key}`, depth + 1);
  };
  visit(openPlace(frame.json), '', 0);
  frame.nodes = nodes.toSorted((one, other) => one.depth - other.depth);
  return frame.nodes;
}

/** Picks nodes near the root as often as the many nodes below. */
function pickNode(frame: Frame, dice: Dice): Node {
  const nodes = nodesOf(frame);
  const depth = dice(8);
  const count = depth > 3 ? nodes.length : nodes.findIndex((node) => node.depth > depth);
  return pick(count < 1 ? nodes : nodes.slice(0, count), dice);
}

function mutate({ document, frames }: PreparedDocument, words: Words, dice: Dice): Mutant {
  if (document.side !== 'stream') {
    const [frame] = frames;
    if (frame === undefined) throw new Error('a document without a body');
    const { json, what } = mark(frame, words, dice);
    return { document, text: json, what };
  }
  const at = dice(frames.length);
  const frame = frames[at];
  if (frame === undefined || frame.json === '' || dice(8) === 0)
    return markLines(document, { frames, at }, dice);
  const split = dice(20) === 0 ? splitMark(frames, at, words, dice) : undefined;
  if (split !== undefined)
    return { document, text: split.frames.map(formatFrame).join(''), what: split.what, isSplit: true };
  const { json, what } = mark(frame, words, dice);
  const marked = { ...frame, json };
  const changed = reorder(frames, { at, marked }, dice);
  return {
    document,
    text: changed.frames.map(formatFrame).join(''),
    what: `event ${at}${changed.how}: ${what}`,
  };
}

function formatFrame({ head, json }: Pick<Frame, 'head' | 'json'>): string {
  return `${head}data: ${json === '' ? '[DONE]' : json}\n\n`;
}

/** Halves of the marker in the same place of an event and of a later one, or of a copy of it. */
function splitMark(
  frames: readonly Frame[],
  at: number,
  { keys }: Words,
  dice: Dice,
): { readonly frames: readonly Frame[]; readonly what: string } | undefined {
  const first = frames[at];
  if (first === undefined) return undefined;
  const { place, path } = pickNode(first, dice);
  const later = frames.findIndex(
    (frame, index) => index > at && frame.json !== '' && nodesOf(frame).some((node) => node.path === path),
  );
  const second = later === -1 || dice(3) === 0 ? first : frames[later];
  const other = second && nodesOf(second).find((node) => node.path === path)?.place;
  if (second === undefined || other === undefined) return undefined;
  const key = JSON.stringify(pick(keys, dice));
  const [half, rest] = dice(2) === 0 ? ['"zq SEC"', '"RET qz"'] : ['["zq SEC"]', '["RET qz"]'];
  const isMember = place.kind === 'object' && other.kind === 'object';
  const put = ({ json }: Frame, at: Place, value: string) =>
    isMember && at.members.size > 0 && at.at(JSON.parse(key)) === undefined
      ? `${json.slice(0, at.start + 1)}${key}:${value},${json.slice(at.start + 1)}`
      : json.slice(0, at.start) + value + json.slice(at.end);
  const changed = { ...first, json: put(first, place, half), nodes: undefined };
  const added = { ...second, json: put(second, other, rest), nodes: undefined };
  const all = frames.with(at, changed);
  return {
    frames: second === first ? all.toSpliced(at + 1, 0, added) : all.with(later, added),
    what: `halves in ${path}${isMember ? `, member ${key}` : ''} of event ${at} and ${second === first ? 'its copy' : later}`,
  };
}

/** The marked event replaces its original, precedes it, follows it, or comes last; or another event is missing. */
function reorder(
  frames: readonly Frame[],
  { at, marked }: { readonly at: number; readonly marked: Frame },
  dice: Dice,
): { readonly frames: readonly Frame[]; readonly how: string } {
  const replaced = frames.with(at, marked);
  switch (dice(12)) {
    case 0:
      return { frames: frames.toSpliced(at, 0, marked), how: ' sent before its original' };
    case 1:
      return { frames: frames.toSpliced(at + 1, 0, marked), how: ' sent behind its original' };
    case 2:
      return { frames: [...frames, marked], how: ' sent again at the end' };
    case 3: {
      const other = dice(frames.length);
      return {
        frames: replaced.filter((_, index) => index === at || index !== other),
        how: ` without event ${other}`,
      };
    }
    default:
      return { frames: replaced, how: '' };
  }
}

function markLines(
  document: SampleDocument,
  { frames, at }: { readonly frames: readonly Frame[]; readonly at: number },
  dice: Dice,
): Mutant {
  const field = pick(
    ['event: ', 'event:', 'id: ', 'retry: ', ': ', ':', ': ping ', 'mood: ', '', 'data: '],
    dice,
  );
  const value = pick([marker, `${marker}\nevent: message`, `a${marker}`, `{"${marker}":null}`], dice);
  const where = pick(['before', 'alone', 'behind the name', 'behind the data', 'at the end'] as const, dice);
  const newline = dice(4) === 0 ? '\r\n' : '\n';
  const line = `${field}${value}\n`;
  const texts = frames.map((frame, index) => {
    const text = formatFrame(frame);
    if (index !== at) return text;
    switch (where) {
      case 'before':
        return line + text;
      case 'alone':
        return `${line}\n${text}`;
      case 'behind the name':
        return `${frame.head}${line}${text.slice(frame.head.length)}`;
      case 'behind the data':
        return `${text.slice(0, -1)}${line}\n`;
      default:
        return text;
    }
  });
  const text = texts.join('') + (where === 'at the end' ? line : '');
  return {
    document,
    text: newline === '\n' ? text : text.replaceAll('\n', newline),
    what: `line ${JSON.stringify(field)} ${where} event ${at}`,
  };
}

function mark(frame: Frame, words: Words, dice: Dice): { readonly json: string; readonly what: string } {
  const { json } = frame;
  const node = pickNode(frame, dice);
  const { place, path } = node;
  if (place.kind === 'object' && dice(8) !== 0) return markObject(json, node, words, dice);
  if (place.kind === 'array' && dice(4) !== 0) {
    const { text, form } = value(words, dice);
    const isFirst = dice(2) === 0 || place.items.length === 0;
    const inner = place.items.length === 0 ? text : isFirst ? `${text},` : `,${text}`;
    const position = isFirst ? place.start + 1 : place.end - 1;
    return {
      json: json.slice(0, position) + inner + json.slice(position),
      what: `element of ${path}: ${form}`,
    };
  }
  if (place.kind === 'string' && dice(3) === 0) {
    const isBehind = dice(2) === 0;
    const position = isBehind ? place.end - 1 : place.start + 1;
    return {
      json: json.slice(0, position) + spell(dice) + json.slice(position),
      what: `inside of the text ${path}`,
    };
  }
  const { text, form } = value(words, dice);
  return {
    json: json.slice(0, place.start) + text + json.slice(place.end),
    what: `in place of ${path}: ${form}`,
  };
}

function markObject(
  json: string,
  { place, path }: Node,
  words: Words,
  dice: Dice,
): { readonly json: string; readonly what: string } {
  const isKey = dice(3) === 0;
  const key = isKey ? spell(dice) : JSON.stringify(pick(words.keys, dice)).slice(1, -1);
  const { text, form } = isKey ? { text: pick(quietValues, dice), form: 'as a key' } : value(words, dice);
  const known = isKey ? undefined : place.at(key);
  if (known !== undefined)
    return {
      json: json.slice(0, known.start) + text + json.slice(known.end),
      what: `in place of ${path}.${key}: ${form}`,
    };
  const isEmpty = place.members.size === 0;
  const isFirst = isEmpty || dice(2) === 0;
  const member = `"${key}":${text}`;
  const position = isFirst ? place.start + 1 : place.end - 1;
  const inner = isEmpty ? member : isFirst ? `${member},` : `,${member}`;
  return {
    json: json.slice(0, position) + inner + json.slice(position),
    what: isKey ? `key of ${path} with ${text}` : `new member ${path}.${key}: ${form}`,
  };
}

const quietValues = [
  'null',
  '0',
  '1.5',
  'true',
  'false',
  '""',
  '[]',
  '{}',
  '"id_1"',
  '[null]',
  '{"type":null}',
];

function value({ keys, types }: Words, dice: Dice): { readonly text: string; readonly form: string } {
  const said = `"${spell(dice)}"`;
  const key = () => JSON.stringify(pick(keys, dice));
  const type = () => JSON.stringify(pick(types, dice));
  switch (dice(10)) {
    case 0:
      return { text: `[${said}]`, form: 'list of text' };
    case 1:
      return { text: `[{"type":"text","text":${said}}]`, form: 'list of text part' };
    case 2:
      return { text: `{${key()}:${said}}`, form: 'object' };
    case 3:
      return {
        text: `{"type":${type()},${key() === '"type"' ? '"note"' : '"text"'}:${said}}`,
        form: 'typed object',
      };
    case 4:
      return {
        text: `[{"type":${type()},"name":"x",${JSON.stringify(pick(keys, dice).replace(/^(type|name)$/, 'note'))}:${said}}]`,
        form: 'list of typed object',
      };
    case 5:
      return { text: `{${said}:${pick(quietValues, dice)}}`, form: 'object with the key' };
    case 6:
      return { text: `[[null,{${key()}:[${said}]}]]`, form: 'nested' };
    default:
      return { text: said, form: 'text' };
  }
}

function spell(dice: Dice): string {
  return dice(6) === 0 ? `\\u007a${marker.slice(1)}` : marker;
}

function pick<T>(list: readonly T[], dice: Dice): T {
  const found = list[dice(list.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}
