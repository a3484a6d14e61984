import type { ASTNode, Environment, ParseResult } from '@marcbachmann/cel-js';
import { RuntimeError } from '../errors.ts';
import { isObject, Json, parseLossless } from '../json/json.ts';
import { shorten } from '../text/shorten.ts';
import { boundLoops } from './cel-cost.ts';
import {
  childNodesOf,
  registerBoundedFunctions,
  restoreFunctionNames,
  useBoundedFunctions,
} from './cel-functions.ts';
import { celLibrary } from './cel-library.ts';
import { celFromPlain, plainFromCel } from './cel-value.ts';
import { ExpressionError, type TreePath } from './error.ts';
import type { Variables } from './variables.ts';

/** One compiled expression. */
export interface CompiledCode {
  /** Its static CEL type, such as `bool`; `dyn` if it is known only when evaluated. */
  readonly type: string;
  /** A plain JSON value. Throws EXPRESSION_FAILED. */
  evaluate(scope: Variables): unknown;
}

/** A CEL environment with these variables, all of unknown type. */
export function withVariables(variables: readonly string[]): Environment {
  return variables.reduce((made, name) => made.registerVariable(name, 'dyn'), celLanguage().clone());
}

/** The syntax tree of an expression, without checking its variables. Throws Error. */
export function parseCode(code: string): ASTNode {
  return celLanguage().parse(code).ast;
}

/** Compiles one expression. Throws ExpressionError with `path`; unknown variables and functions are such. */
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
        hint: reason.startsWith('No such key') ? 'Where a key may be absent, write `.?key`.' : undefined,
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
      ? `Write a value behind \`${shorten(last, 40)}\`, or remove it. Expressions are written in CEL.`
      : 'Expressions are CEL, such as `case.amount > 10` or `size(items) == 0`.';
    const reason = isCut ? 'it ends where a value is expected' : summary;
    // What an expression may name instead is known where it stands.
    throw new ExpressionError(code, `\`\${${shorten(code, 300)}}\` is no expression: ${reason}`, {
      path,
      ...(!summary.includes('Unknown variable') && { hint }),
    });
  }
}

/** CEL's own errors carry a drawing of the source in `message`, and the bare sentence in `summary`. */
function summaryOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return restoreFunctionNames(
    'summary' in thrown && typeof thrown.summary === 'string' ? thrown.summary : thrown.message,
  );
}

/**
 * The keys of an expression that is a plain path, such as `case.user.ids[0]`, to be read without CEL; else
 * undefined.
 */
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

/** Every name in an expression, those that its macros bind included. */
function namesIn(node: ASTNode): ReadonlySet<string> {
  if (node.op === 'id') return new Set([node.args]);
  return new Set(childNodesOf(node).flatMap((part) => [...namesIn(part)]));
}

/** The named variables converted for CEL; others are left out, since views of steps may be large. */
function celScope(scope: Variables, names: ReadonlySet<string>): Record<string, unknown> {
  const needed = Object.entries(scope).filter(([name]) => names.has(name));
  return Object.fromEntries(needed.map(([name, value]) => [name, celFromPlain(value)]));
}

let language: Environment | undefined;

/** CEL, in which JSON's numbers, all doubles, may be combined with integer literals. */
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
