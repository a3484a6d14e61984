import { createRequire } from 'node:module';
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { isObject } from '../json/json.ts';
import { findLastText, findText, splitText } from '../text/find.ts';
import { compileLinear, type LinearPattern, loadEngine } from '../text/linear-pattern.ts';
import { compileSafe } from '../text/safe-pattern.ts';
import { withinLimit } from '../time/time-limit.ts';

/** Registers variants of CEL's string functions with bounded running time, for use by `useBoundedFunctions`. */
export function registerBoundedFunctions(environment: Environment): void {
  const bound = (signature: string, handler: (text: string, ...rest: never[]) => unknown): void => {
    const [, receiver, name = '', takes = '', returnType = ''] =
      /^(?:(\w+)\.)?(\w+)\((.*)\): (\S+)$/.exec(signature) ?? [];
    const params = takes.split(', ').map((type, index) => ({ name: `arg${index}`, type }));
    const place = receiver === undefined ? {} : { receiverType: receiver };
    environment.registerFunction({
      name: name + boundedSuffix,
      ...place,
      params,
      returnType,
      handler,
      async: false,
    });
  };
  bound('string.matches(string): bool', matches);
  bound('string.contains(string): bool', (text, wanted: string) => findText(text, wanted) !== -1);
  bound('string.indexOf(string): int', (text, wanted: string) => BigInt(findText(text, wanted)));
  bound('string.indexOf(string, int): int', (text, wanted: string, from: bigint) =>
    wanted === '' ? from : BigInt(findText(text, wanted, indexIn(text, from))),
  );
  bound('string.lastIndexOf(string): int', (text, wanted: string) => BigInt(findLastText(text, wanted)));
  bound('string.lastIndexOf(string, int): int', (text, wanted: string, from: bigint) =>
    wanted === '' ? from : BigInt(findLastText(text, wanted, indexIn(text, from))),
  );
  bound('string.split(string): list<string>', (text, separator: string) => splitText(text, separator));
  bound('string.split(string, int): list<string>', splitSome);
  bound('duration(string): google.protobuf.Duration', readDuration);
}

/** Replaces calls of library functions in a parsed expression by the bounded variants, in place. */
export function useBoundedFunctions(node: ASTNode): void {
  if ((node.op === 'call' || node.op === 'rcall') && names.has(node.args[0])) {
    Reflect.set(node.args, 0, node.args[0] + boundedSuffix);
  }
  for (const part of childNodesOf(node)) useBoundedFunctions(part);
}

export function restoreFunctionNames(message: string): string {
  return message.replaceAll(boundedNames, '$1');
}

export function childNodesOf(node: ASTNode): readonly ASTNode[] {
  const parts: readonly unknown[] = Array.isArray(node.args) ? node.args.flat(2) : [node.args];
  return parts.filter(isNode);
}

function isNode(part: unknown): part is ASTNode {
  return isObject(part) && 'op' in part && 'args' in part;
}

/** No identifier can contain this character. */
const boundedSuffix = '!';
const names: ReadonlySet<string> = new Set([
  'matches',
  'contains',
  'indexOf',
  'lastIndexOf',
  'split',
  'duration',
]);
const boundedNames = new RegExp(`\\b(${[...names].join('|')})${boundedSuffix}`, 'g');

/** CEL's `matches`, with RE2 patterns. JavaScript-only patterns, such as `(?=`, get at most a second. */
function matches(text: string, pattern: string): boolean {
  const compiled = patterns.get(pattern) ?? compilePattern(pattern);
  if (patterns.size >= MAX_CACHED) patterns.clear();
  patterns.set(pattern, compiled);
  if (compiled.size * text.length <= STEPS) return compiled.test(text);
  return withinLimit('looking for a pattern', () => compiled.test(text));
}

const patterns = new Map<string, LinearPattern>();
const MAX_CACHED = 100;
const SHORT_PATTERN = 200;
const STEPS = 10_000_000;

function compilePattern(pattern: string): LinearPattern {
  try {
    if (pattern.length <= SHORT_PATTERN) return compileLinear(pattern);
    // Input may supply the pattern. Load the engine before the time limit starts.
    loadEngine();
    return withinLimit('compiling a pattern', () => compileLinear(pattern));
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown;
    return compileJavaScript(pattern);
  }
}

function compileJavaScript(pattern: string): LinearPattern {
  try {
    const { test } = compileSafe(pattern);
    return { size: 0, test };
  } catch (cause) {
    throw new Error(`Invalid regular expression: ${pattern.slice(0, 200)}`, { cause });
  }
}

function indexIn(text: string, from: bigint): number {
  const index = Number(from);
  if (index >= 0 && index < text.length) return index;
  throw new RangeError('the start index of the search is out of range');
}

function splitSome(text: string, separator: string, limit: bigint): string[] {
  const most = Number(limit);
  if (most === 0) return [];
  const parts = splitText(text, separator);
  if (most < 0 || parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}

/** The library's duration parser takes quadratic time. */
function readDuration(text: string): unknown {
  if (text.length > MAX_DURATION_LENGTH) throw new RangeError('a duration has at most a hundred characters');
  return celLibrary().evaluate('duration(text)', { text });
}

const MAX_DURATION_LENGTH = 100;

const load = createRequire(import.meta.url);
let loaded: typeof import('@marcbachmann/cel-js') | undefined;

/** Loads the CEL package on first use, because loading it registers every operator of the language. */
export function celLibrary(): typeof import('@marcbachmann/cel-js') {
  const library: typeof import('@marcbachmann/cel-js') = loaded ?? load('@marcbachmann/cel-js');
  loaded = library;
  return library;
}
