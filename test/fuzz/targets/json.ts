import { findDuplicateKey } from '../../../src/base/json/duplicate-key.ts';
import { canonicalJson, isSameByValue, isSameToTheDigit } from '../../../src/base/json/equal.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { tryJson, tryParse } from '../../../src/base/json/parse.ts';
import { elementsOf, exactMembers } from '../../../src/base/json/scan.ts';
import { JsonTokens } from '../../../src/base/json/tokens.ts';
import { openStrictly } from '../../../src/gateway/wire/place.ts';
import { holds, isSame, type Target } from '../target.ts';

/** The character-based JSON readers, compared with JSON.parse. */
export const json: Target = {
  seeds: [
    // The deepest allowed nesting and one level more.
    ...[1_000, 1_001].map((levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`),
    '{"a":[1,-0.5e+3,"x\\u00e9\\n\\"",true,false,null,{}],"b":{"a":{"a":[]}},"__proto__":1}',
    ' [ 1 , [ [ "]" , "}" ] ] , { "a" : { "b" : "\\\\" } } ] ',
    '{"a":12345678901234567890,"a":0.10000000000000000001,"\\u0061":1e400}',
    '"\ud800 😀 \\ud83d\\ude00"',
  ],
  tokens: [
    ...['{', '}', '[', ']', ',', ':', '"', '\\', '\\"', '\\\\', '\\u0061', 'true', 'false', 'null', '1e5'],
    ...[
      '"a":',
      '"__proto__":',
      '"constructor":',
      '{"a":1}',
      '[]',
      '{}',
      '""',
      '-',
      '\ufeff',
      '\u2028',
      '\u00a0',
    ],
  ],
  maxLength: 2_100,
  run: (text) => {
    const value = tryParse(text);
    isSame(problemOf(text), value === undefined ? 'is not JSON' : problemIn(text, value), 'strict reading');
    if (value === undefined || isMisread(text)) return;
    isSame(rebuilt(new Json(text.trim())), value, 'by its members');
    isSame(tokensOf(text), compact(text), 'by its tokens');
    const lossless = parseLossless(text);
    const written = stringifyJson(lossless);
    isSame(JSON.parse(written), value, 'lossless');
    holds(stringifyJson(parseLossless(written)) === written, 'written twice');
    holds(
      isSameToTheDigit(lossless, parseLossless(written)) && isSameByValue(lossless, lossless),
      'the same',
    );
    isSame(JSON.parse(canonicalJson(lossless)), JSON.parse(canonicalJson(value)), 'canonical');
  },
};

/**
 * V8 bug: after an object with the key of one backslash, JSON.parse may misread other keys of one escaped character.
 */
function isMisread(text: string): boolean {
  return /"(\\\\|\\u005c)"\s*:/i.test(text);
}

function problemOf(text: string): string | undefined {
  let found: string | undefined;
  try {
    openStrictly(text, (problem) => {
      found = problem;
      return new Error(problem);
    });
  } catch (error) {
    if (found === undefined) throw error;
  }
  return found;
}

function problemIn(text: string, value: unknown): string | undefined {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g, (_string, colon) => (colon ? '"' : ''));
  let [depth, deepest, keys] = [0, 0, 0];
  for (const character of bare) {
    if (character === '"') keys += 1;
    else if (character === '{' || character === '[') {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (character === '}' || character === ']') depth -= 1;
  }
  const hasTwice = keys !== countKeys(value);
  holds((findDuplicateKey(text) !== undefined) === hasTwice || isMisread(text), 'a key twice', text);
  if (deepest <= 1_000) return hasTwice ? 'has a duplicate key' : undefined;
  return hasTwice ? problemOf(text) : 'is nested too deeply';
}

/** Not recursive, because values may be nested to any depth. */
function countKeys(value: unknown): number {
  let count = 0;
  const open = [value];
  for (let at = open.pop(); open.length > 0 || at !== undefined; at = open.pop()) {
    if (typeof at !== 'object' || at === null) continue;
    if (isObject(at)) count += Object.keys(at).length;
    for (const member of Object.values(at)) open.push(member);
  }
  return count;
}

const MAX_LEVELS = 20;

function rebuilt(json: Json, levels = MAX_LEVELS): unknown {
  const { text } = json;
  if (levels === 0) return tryJson(text)?.value;
  if (text.startsWith('[')) return elementsOf(json).map((element) => rebuilt(element, levels - 1));
  if (!text.startsWith('{')) return JSON.parse(text);
  return Object.fromEntries(
    [...exactMembers(json)].map(([key, member]) => [key, rebuilt(member, levels - 1)]),
  );
}

function tokensOf(text: string): string {
  const tokens = new JsonTokens(text);
  let found = '';
  while (tokens.next()) found += text.slice(tokens.start, tokens.end);
  return found;
}

function compact(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|[\s:]/g, (_all, string: string | undefined) => string ?? '');
}
