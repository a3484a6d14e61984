import { diff } from 'node:util';
import { parseToTheDigit } from '../../base/json/equal.ts';
import { isObject, type Json, stringifyJson } from '../../base/json/json.ts';
import { escapeInvisible } from '../../base/text/escape-invisible.ts';
import { defaultColumns, textWidth } from '../../base/text/width.ts';
import type { PinReport } from '../../contract/pin.ts';

/** The lines that a person reads before accepting: whole definitions, of which nothing is cut. */
export function* pinLines(report: PinReport): Generator<string> {
  const { server, first_seen_at, accepted_by, accepted_at, changes, unusable, digest } = report;
  const accepted =
    accepted_by === null ? 'never accepted' : `accepted by ${quoted(accepted_by)} at ${accepted_at}`;
  yield* wrap(`MCP server ${server}: first seen ${first_seen_at}, ${accepted}`, '');
  for (const { item, change, pinned, sent } of changes) {
    const heading = item.startsWith('tool:') ? `tool ${quoted(item.slice('tool:'.length))}` : item;
    yield '';
    yield* wrap(`${heading}: ${words[change]}`, '');
    if (change === 'removed') continue;
    const now = linesOf(sent);
    const lines =
      change === 'unaccepted'
        ? now.map((line): MarkedLine => [' ', line])
        : compareLines(linesOf(pinned), now);
    for (const [mark, line] of lines) yield* wrap(line, `  ${mark} `);
  }
  if (unusable.length > 0) yield '';
  for (const why of unusable) yield* wrap(`cannot be accepted: ${escapeInvisible(why)}`, '');
  yield '';
  yield `digest: ${digest}`;
}

const words = {
  new: 'new',
  changed: 'changed',
  unaccepted: 'not accepted yet',
  removed: 'removed by the server',
} as const;

/** As JSON, so that no text can look like a line of this program or like a path, with invisible characters as code points. */
function quoted(text: string): string {
  return /^[\w@-]+$/.test(text) ? text : escapeInvisible(JSON.stringify(text));
}

/** A line for each value in a definition, and for each line of a text in it. */
function linesOf(definition: Json | null): string[] {
  return definition === null ? [] : linesBelow(parseToTheDigit(definition.text), '');
}

function linesBelow(value: unknown, path: string): string[] {
  const inner = membersOf(value, path);
  if (inner.length > 0) return inner.flatMap(([at, member]) => linesBelow(member, at));
  const before = path === '' ? '' : `${path}: `;
  if (typeof value !== 'string') return [`${before}${stringifyJson(value)}`];
  const [first = '""', ...more] = value.split(/(?<=\n)/).map((line) => escapeInvisible(JSON.stringify(line)));
  return [`${before}${first}`, ...more.map((line) => `  ${line}`)];
}

function membersOf(value: unknown, path: string): [string, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [`${path}[${index}]`, item]);
  if (!isObject(value) || JSON.isRawJSON(value)) return [];
  const start = path === '' ? '' : `${path}.`;
  return Object.entries(value).map(([key, member]) => [`${start}${quoted(key)}`, member]);
}

type MarkedLine = readonly [mark: '+' | '-' | ' ' | '~', line: string];

/** Removed lines stand before the added ones in their place. `~` names a difference that is hard to see. */
function compareLines(before: readonly string[], now: readonly string[]): MarkedLine[] {
  const lines: MarkedLine[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const endChange = () => {
    const isPaired = removed.length === added.length;
    for (const line of removed) lines.push(['-', line]);
    for (const [index, line] of added.entries()) {
      lines.push(['+', line]);
      const hidden = isPaired ? hiddenDifference(removed[index] ?? '', line) : undefined;
      if (hidden !== undefined) lines.push(['~', hidden]);
    }
    [removed, added] = [[], []];
  };
  // The time and memory of a comparison grow with the square.
  const isShort = before.length + now.length <= MOST_COMPARED;
  const all = [...before.map((line) => [-1, line] as const), ...now.map((line) => [1, line] as const)];
  for (const [sign, line] of isShort ? diff(now, before) : all) {
    if (sign === -1) removed.push(line);
    else if (sign === 1) added.push(line);
    else {
      endChange();
      lines.push([' ', line]);
    }
  }
  endChange();
  return lines;
}

const MOST_COMPARED = 2_000;

/** The first characters that differ, unless both are visible characters of ASCII. */
function hiddenDifference(before: string, now: string): string | undefined {
  const [old, fresh] = [[...before], [...now]];
  const at = fresh.findIndex((character, index) => character !== old[index]);
  const place = at === -1 ? fresh.length : at;
  const pair = [old[place] ?? '', fresh[place] ?? ''];
  if (pair.every((character) => /^[!-~]$/.test(character))) return undefined;
  return `character ${place + 1}: ${pair.map(codePoint).join(' is now ')}`;
}

function codePoint(character: string): string {
  const code = character.codePointAt(0);
  return code === undefined ? 'the end' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Breaks behind spaces, if there are any, and keeps every character. */
function* wrap(line: string, before: string): Generator<string> {
  const columns = defaultColumns - before.length - INDENT.length;
  const hasWide = textWidth(line) > [...line].length;
  const most = hasWide ? Math.floor(columns / 2) : columns;
  const parts = line.match(new RegExp(`.{1,${most}}$|.{0,${most - 1}} |.{1,${most}}`, 'gsu')) ?? [];
  for (const [index, part] of parts.entries()) yield `${before}${index === 0 ? '' : INDENT}${part}`;
}

const INDENT = '    ';
