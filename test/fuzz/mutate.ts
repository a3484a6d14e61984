import type { Random } from './random.ts';

export interface Material {
  readonly random: Random;
  readonly corpus: readonly string[];
  readonly tokens: readonly string[];
  readonly maxLength: number;
}

/** Applies one to eight changes, usually few. */
export function mutate(parent: string, material: Material): string {
  const { random, maxLength } = material;
  const times = 1 + Math.min(random.below(8), random.below(8), random.below(8));
  let text = parent;
  for (let time = 0; time < times; time += 1) {
    text = random.oneOf(changes)(text, material);
    if (text.length > maxLength) text = text.slice(0, maxLength);
  }
  return text;
}

type Change = (text: string, material: Material) => string;

const splice = (text: string, from: number, to: number, put: string) =>
  text.slice(0, from) + put + text.slice(to);

function anyRange(text: string, random: Random): readonly [number, number] {
  const from = random.below(text.length + 1);
  const most = random.below(3) === 0 ? text.length - from : Math.min(12, text.length - from);
  return [from, from + random.below(most + 1)];
}

function anyPart(text: string, random: Random): readonly [number, number] {
  const near = text.slice(random.below(text.length + 1));
  const from = text.length - near.length + Math.max(near.search(/[[{"\n,:]/), 0);
  const rest = text.slice(from + 1);
  const border = rest.search(/[\]}"\n,:]/);
  return [from, border === -1 ? text.length : from + 2 + border];
}

const cutOut: Change = (text, { random }) => {
  const [from, to] = anyRange(text, random);
  return splice(text, from, to, '');
};

const cutPart: Change = (text, { random }) => {
  const [from, to] = anyPart(text, random);
  return splice(text, from, to, '');
};

const double: Change = (text, { random }) => {
  const [from, to] = random.below(2) === 0 ? anyRange(text, random) : anyPart(text, random);
  const times = random.below(4) === 0 ? 2 + random.below(60) : 1;
  return splice(text, to, to, text.slice(from, to).repeat(times));
};

const move: Change = (text, { random }) => {
  const [from, to] = random.below(2) === 0 ? anyRange(text, random) : anyPart(text, random);
  const rest = splice(text, from, to, '');
  const at = random.below(rest.length + 1);
  return splice(rest, at, at, text.slice(from, to));
};

const putToken: Change = (text, { random, tokens }) => {
  const [from, to] = random.below(2) === 0 ? anyPart(text, random) : anyRange(text, random);
  const isInserted = random.below(2) === 0;
  return splice(text, from, isInserted ? from : to, random.oneOf(tokens));
};

const swapToken: Change = (text, { random, tokens }) => {
  const before = random.oneOf(tokens);
  const at = text.indexOf(before, random.below(text.length + 1));
  return at === -1 ? text : splice(text, at, at + before.length, random.oneOf(tokens));
};

const oddCharacters = [
  ...['\0', '\u0001', '\b', '\t', '\n', '\r', '\u001b', ' ', '"', "'", '\\', '`', '/', '%', '#', '$', '&'],
  ...['*', '+', ',', '-', '.', ':', ';', '<', '=', '>', '?', '@', '!', '|', '~', '0', '9', 'a', 'A', '_'],
  ...[
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '\u007f',
    '\u0080',
    '\u009b',
    '\u00a0',
    '\u00ad',
    '\u00ff',
    'é',
    'ſ',
    'K',
  ],
  ...[
    '\u0130',
    '\u200b',
    '\u200e',
    '\u2028',
    '\u202e',
    '\ufeff',
    '\uffff',
    '\ud800',
    '\udc00',
    '😀',
    '漢',
    'e\u0301',
  ],
];

const putCharacter: Change = (text, { random }) => {
  const at = random.below(text.length + 1);
  return splice(text, at, at + random.below(2), random.oneOf(oddCharacters));
};

const turnBit: Change = (text, { random }) => {
  if (text === '') return text;
  const at = random.below(text.length);
  return splice(text, at, at + 1, String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(8))));
};

const turnCase: Change = (text, { random }) => {
  const [from, to] = anyRange(text, random);
  const part = text.slice(from, to);
  return splice(text, from, to, part === part.toLowerCase() ? part.toUpperCase() : part.toLowerCase());
};

const oddNumbers = [
  ...['0', '-0', '1', '-1', '2', '1.5', '1e3', '0.1', '255', '256', '65536', '2147483648', '4294967296'],
  ...[
    '9007199254740993',
    '18446744073709551616',
    '1e308',
    '1e309',
    '-1e309',
    '1E-400',
    '01',
    '0x10',
    '1_0',
    '.5',
  ],
];

const changeNumber: Change = (text, { random }) => {
  const from = random.below(text.length + 1);
  const found = /-?\d+(?:\.\d+)?/.exec(text.slice(from));
  if (found === null) return text;
  const at = from + found.index;
  return splice(text, at, at + found[0].length, random.oneOf(oddNumbers));
};

const join: Change = (text, { random, corpus }) => {
  const other = random.oneOf(corpus);
  const [from, to] = random.below(2) === 0 ? anyPart(other, random) : anyRange(other, random);
  const [start, end] = random.below(2) === 0 ? anyPart(text, random) : anyRange(text, random);
  return splice(text, start, random.below(2) === 0 ? start : end, other.slice(from, to));
};

const crossOver: Change = (text, { random, corpus }) => {
  const other = random.oneOf(corpus);
  return text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1));
};

const brackets = [
  ['[', ']'],
  ['{"a":', '}'],
  ['(', ')'],
  ['{', '}'],
  ['"', '"'],
  ["'", "'"],
] as const;

const nest: Change = (text, { random }) => {
  const [open, close] = random.oneOf(brackets);
  const [from, to] = random.below(2) === 0 ? anyPart(text, random) : anyRange(text, random);
  const levels = random.below(50) === 0 ? random.below(1_500) : 1 + random.below(3);
  const isClosed = random.below(6) !== 0;
  const inner = text.slice(from, to);
  return splice(text, from, to, `${open.repeat(levels)}${inner}${isClosed ? close.repeat(levels) : ''}`);
};

const changes: readonly Change[] = [
  ...[cutOut, cutPart, double, move, putToken, putToken, putToken, swapToken, swapToken],
  ...[putCharacter, putCharacter, turnBit, turnCase, changeNumber, join, join, crossOver, nest],
];
