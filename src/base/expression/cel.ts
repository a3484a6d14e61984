import type { ASTNode, Environment, ParseResult } from '@marcbachmann/cel-js';
import { RuntimeError } from '../errors.ts';
import { isObject, Json, parseLossless } from '../json/json.ts';
import { measureValue } from '../json/measure.ts';
import { shorten } from '../text/phrases.ts';
import { withinLimit } from '../time/time-limit.ts';
import {
  celLibrary,
  childNodesOf,
  registerBoundedFunctions,
  restoreFunctionNames,
  useBoundedFunctions,
} from './cel-functions.ts';
import { ExpressionError, type TreePath, type Variables } from './error.ts';

export interface CompiledCode {
  /** The static CEL type, such as `bool`; `dyn` if only evaluation determines it. */
  readonly type: string;
  /** Returns a plain JSON value. Throws EXPRESSION_FAILED. */
  evaluate(scope: Variables): unknown;
}

export function withVariables(variables: readonly string[]): Environment {
  return variables.reduce((made, name) => made.registerVariable(name, 'dyn'), celLanguage().clone());
}

export function parseCode(code: string): ASTNode {
  return celLanguage().parse(code).ast;
}

/** Throws ExpressionError with `path` for invalid code and for unknown variables or functions. */
export function compileCode(code: string, environment: Environment, path: TreePath): CompiledCode {
  const { run, type } = check(code, environment, path);
  const steps = staticPathOf(run.ast);
  const names = namesIn(run.ast);
  const runBounded = boundLoops(run.ast, run);
  const evaluate = (scope: Variables): unknown => {
    try {
      return plainFromCel(steps === undefined ? runBounded(celScope(scope, names)) : readPath(steps, scope));
    } catch (cause) {
      const reason = summaryOf(cause);
      throw new RuntimeError('EXPRESSION_FAILED', `\`\${${shorten(code, 300)}}\` failed: ${reason}`, {
        hint: reason.startsWith('No such key') ? 'If a key may be missing, write `.?key`.' : undefined,
        details: { expression: code },
        cause,
      });
    }
  };
  return { type, evaluate };
}

interface Checked {
  readonly run: ParseResult;
  readonly type: string;
}

function check(code: string, environment: Environment, path: TreePath): Checked {
  try {
    const run = environment.parse(code);
    useBoundedFunctions(run.ast);
    const { error, type } = run.check();
    if (error === undefined) return { run, type: type ?? 'dyn' };
    throw error;
  } catch (thrown) {
    const summary = summaryOf(thrown);
    const isCut = summary === 'Unexpected token: EOF';
    const last = /\S+$/.exec(code.trim())?.[0] ?? '';
    const hint = isCut
      ? `${last.endsWith('?') ? choiceHint : `Write a value after \`${shorten(last, 40)}\`, or end the expression before it.`} Expressions are written in CEL.`
      : 'Expressions are CEL, such as `case.amount > 10` or `size(items) == 0`.';
    const reason = isCut ? 'it ends where a value is expected' : summary;
    throw new ExpressionError(code, `\`\${${shorten(code, 300)}}\` is not a valid expression: ${reason}`, {
      path,
      ...(!summary.includes('Unknown variable') && { hint }),
    });
  }
}

const choiceHint =
  'A choice is written `A ? B : C`, such as `has(case.answer) ? case.answer : "none"`; a value with `:` needs quotes. `||` joins two conditions.';

/** CEL's `message` contains a drawing of the source; `summary` is the sentence alone. */
function summaryOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return restoreFunctionNames(
    'summary' in thrown && typeof thrown.summary === 'string' ? thrown.summary : thrown.message,
  );
}

function staticPathOf(node: ASTNode): TreePath | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [parent, key] = node.args;
  const steps = staticPathOf(parent);
  const step = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
  if (steps === undefined) return undefined;
  if (typeof step === 'bigint') return [...steps, Number(step)];
  return typeof step === 'string' ? [...steps, step] : undefined;
}

function readPath(steps: TreePath, scope: Variables): unknown {
  let value: unknown = scope;
  for (const step of steps) {
    const next = memberOf(value, step);
    if (next === undefined) throw new RangeError(`No such key: ${step}`);
    value = next;
  }
  return value;
}

function memberOf(value: unknown, step: string | number): unknown {
  if (value instanceof Json) return memberOf(parseLossless(value.text), step);
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined;
  return isObject(value) && !JSON.isRawJSON(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function namesIn(node: ASTNode): ReadonlySet<string> {
  if (node.op === 'id') return new Set([node.args]);
  return new Set(childNodesOf(node).flatMap((part) => [...namesIn(part)]));
}

/** Converts only the named variables, since views of steps may be large. */
function celScope(scope: Variables, names: ReadonlySet<string>): Record<string, unknown> {
  const needed = Object.entries(scope).filter(([name]) => names.has(name));
  return Object.fromEntries(needed.map(([name, value]) => [name, celFromPlain(value)]));
}

let language: Environment | undefined;

function celLanguage(): Environment {
  language ??= openLanguage();
  return language;
}

function openLanguage(): Environment {
  const { Environment } = celLibrary();
  const opened = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true });
  for (const [operator, apply] of Object.entries<(left: number, right: number) => number>({
    '+': (left, right) => left + right,
    '-': (left, right) => left - right,
    '*': (left, right) => left * right,
    '/': (left, right) => left / right,
    '%': (left, right) => left % right,
  })) {
    opened.registerOperator(`int ${operator} double: double`, (left: bigint, right: number) =>
      apply(asDouble(left), right),
    );
    opened.registerOperator(`double ${operator} int: double`, (left: number, right: bigint) =>
      apply(left, asDouble(right)),
    );
  }
  opened.registerOperator('double % double: double', (left: number, right: number) => left % right);
  registerBoundedFunctions(opened);
  return opened;
}

function asDouble(integer: bigint): number {
  const double = Number(integer);
  if (BigInt(double) === integer) return double;
  throw new RangeError(
    `${integer} has more digits than a double can hold; convert the other side with int()`,
  );
}

type Evaluate = (values: Readonly<Record<string, unknown>>) => unknown;

/** Limits loops (`map`, `all`, …) over large values to one second. Code without loops is unchanged. */
function boundLoops(root: ASTNode, evaluate: Evaluate): Evaluate {
  const loops = countLoops(root);
  if (loops === 0) return evaluate;
  // The body of the innermost loop may read the whole value too.
  const most = STEPS ** (1 / (loops + 1));
  // `split` may turn a string into a list of its characters.
  const letters = calls(root, 'split') ? 1 : undefined;
  return (values) =>
    measureValue(values, most, letters).isLarge
      ? withinLimit('evaluating it', () => evaluate(values))
      : evaluate(values);
}

const STEPS = 1_000_000;

function countLoops(node: ASTNode): number {
  const inner = Math.max(0, ...childNodesOf(node).map(countLoops));
  if (node.op !== 'rcall' || !loopNames.has(node.args[0])) return inner;
  const [, list, [, ...body]] = node.args;
  return Math.max(countLoops(list), 1 + Math.max(0, ...body.map(countLoops)));
}

function calls(node: ASTNode, name: string): boolean {
  return (
    (node.op === 'rcall' && restoreFunctionNames(node.args[0]) === name) ||
    childNodesOf(node).some((part) => calls(part, name))
  );
}

const loopNames: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Raw integers become bigint, objects with a `constructor` key become maps, and a `Json` becomes its parsed value. */
function celFromPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Json) return celFromPlain(parseLossless(value.text));
  if (JSON.isRawJSON(value)) {
    return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON);
  }
  if (isObject(value) && Object.hasOwn(value, 'constructor')) {
    return new Map(Object.entries(value).map(([key, member]) => [key, celFromPlain(member)]));
  }
  if (!Object.isFrozen(value)) return changeMembers(value, celFromPlain);
  const known = converted.get(value) ?? changeMembers(value, celFromPlain);
  converted.set(value, known);
  return known;
}

/** Caches the converted forms of frozen values, so that a large view is converted once for all expressions. */
const converted = new WeakMap<object, unknown>();

/** Long integers keep their digits (`JSON.rawJSON`). Throws RangeError. */
function plainFromCel(value: unknown): unknown {
  if (typeof value === 'bigint') return plainInteger(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`the result is ${value}, which JSON cannot represent`);
  }
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (value instanceof Json) return parseLossless(value.text);
  if (value instanceof celLibrary().Optional) return value.hasValue() ? plainFromCel(value.value()) : null;
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, member]) => [key, plainFromCel(member)]));
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) || isPlain(value)) return changeMembers(value, plainFromCel);
  const primitive = value.valueOf();
  return typeof primitive === 'bigint' ? plainInteger(primitive) : String(value);
}

function plainInteger(integer: bigint): unknown {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(integer));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.hasOwn(value, 'constructor');
}

function changeMembers(value: object, change: (member: unknown) => unknown): unknown {
  let changed = false;
  const track = (member: unknown): unknown => {
    const next = change(member);
    changed ||= !Object.is(next, member);
    return next;
  };
  const copy = Array.isArray(value)
    ? value.map(track)
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, track(member)]));
  return changed ? copy : value;
}
