import { type ASTNode, Environment, Optional, type ParseResult } from '@marcbachmann/cel-js';
import { RuntimeError } from './errors.ts';
import { isObject, stringifyJson } from './json.ts';

type Scope = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];
type Evaluate = (scope: Scope) => unknown;

/** A tree whose `${…}` are compiled. */
export interface Expression {
  /**
   * The tree for these variables, as plain JSON values in which long integers keep their digits
   * (`JSON.rawJSON`). Throws EXPRESSION_FAILED.
   */
  evaluate(scope: Scope): unknown;
}

/** A `${…}` that cannot be compiled; `path` leads to its string inside the tree. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly expression: string;
  readonly path: Path;

  constructor(expression: string, message: string, path: Path) {
    super(message);
    this.expression = expression;
    this.path = path;
  }
}

/**
 * Compiles every `${…}` (CEL) in the strings of a YAML or JSON tree; its keys are left alone. A string that
 * is one `${…}` keeps the type of its value; within text, strings stand as they are and all else as JSON,
 * null as `null`. `$${` is a literal `${`. JSON numbers are doubles that mix with integers; an absent
 * `.?field` gives null. Throws the first ExpressionError; unknown variables and functions are such.
 */
export function compileExpressions(value: unknown, variables: readonly string[]): Expression {
  const compiler = newCompiler(variables);
  const evaluate = compileNode(value, [], compiler) ?? (() => value);
  if (compiler.errors[0] !== undefined) throw compiler.errors[0];
  return { evaluate };
}

/** Everything that `compileExpressions` would refuse, in the order of the tree. */
export function findExpressionErrors(
  value: unknown,
  variables: readonly string[],
): readonly ExpressionError[] {
  const compiler = newCompiler(variables);
  compileNode(value, [], compiler);
  return compiler.errors;
}

interface Compiler {
  readonly errors: ExpressionError[];
  /** Throws ExpressionError. */
  compile(code: string, path: Path): Evaluate;
}

function newCompiler(variables: readonly string[]): Compiler {
  let environment: Environment | undefined;
  const compile = (code: string, path: Path): Evaluate => {
    environment ??= variables.reduce((made, name) => made.registerVariable(name, 'dyn'), language.clone());
    return compileCode(code, environment, path);
  };
  return { errors: [], compile };
}

/** Undefined for a tree without expressions: such a tree is its own value. */
function compileNode(node: unknown, path: Path, compiler: Compiler): Evaluate | undefined {
  if (typeof node === 'string') return node.includes('${') ? compileText(node, path, compiler) : undefined;
  if (typeof node !== 'object' || node === null || JSON.isRawJSON(node)) return undefined;
  const isList = Array.isArray(node);
  const members = Object.entries(node).map(([key, member]) => {
    return { key, member, evaluate: compileNode(member, [...path, isList ? Number(key) : key], compiler) };
  });
  if (members.every(({ evaluate }) => evaluate === undefined)) return undefined;
  return (scope) => {
    const entries = members.map(({ key, member, evaluate }): [string, unknown] => {
      return [key, evaluate === undefined ? member : evaluate(scope)];
    });
    return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
  };
}

function compileText(text: string, path: Path, compiler: Compiler): Evaluate | undefined {
  try {
    const parts = splitTemplate(text, path).map((part) =>
      typeof part === 'string' ? part : compiler.compile(part.code, path),
    );
    const [first] = parts;
    if (parts.length === 1 && typeof first === 'function') return first;
    return (scope) => parts.map((part) => (typeof part === 'string' ? part : asText(part(scope)))).join('');
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown;
    compiler.errors.push(thrown);
    return undefined;
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

type TemplatePart = string | { readonly code: string };

function splitTemplate(text: string, path: Path): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let literal = '';
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      const end = endOfCode(text, at + 2, path);
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push({ code: text.slice(at + 2, end).trim() });
      at = end + 1;
    } else {
      literal += text[at];
      at += 1;
    }
  }
  return literal === '' ? parts : [...parts, literal];
}

/** CEL's tokens that may hide a brace: strings of three quotes or one, and comments. */
const opaque = /('''|""")(?:\\.|(?!\1).)*\1|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*'|\/\/[^\n]*|[{}]/gs;

/** The position of the brace that closes the expression which starts at `start`. */
function endOfCode(text: string, start: number, path: Path): number {
  let depth = 1;
  for (const match of text.slice(start).matchAll(opaque)) {
    if (match[0] === '{') depth += 1;
    if (match[0] === '}') depth -= 1;
    if (depth === 0) return start + match.index;
  }
  const code = text.slice(start);
  throw new ExpressionError(code, `\`\${${code}\` has no closing brace`, path);
}

/** CEL, in which JSON's numbers, all doubles, may be combined with integer literals. */
const language = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true });
for (const [operator, apply] of Object.entries<(left: number, right: number) => number>({
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
})) {
  language.registerOperator(`int ${operator} double: double`, (left: bigint, right: number) =>
    apply(asDouble(left), right),
  );
  language.registerOperator(`double ${operator} int: double`, (left: number, right: bigint) =>
    apply(left, asDouble(right)),
  );
}
language.registerOperator('double % double: double', (left: number, right: number) => left % right);

function asDouble(integer: bigint): number {
  const double = Number(integer);
  if (BigInt(double) === integer) return double;
  throw new RangeError(
    `${integer} has more digits than a double can hold; convert the other side with int()`,
  );
}

function compileCode(code: string, environment: Environment, path: Path): Evaluate {
  const run = check(code, environment, path);
  const steps = asSteps(run.ast);
  return (scope) => {
    try {
      return plainFromCel(steps === undefined ? run(celScope(scope)) : follow(steps, scope));
    } catch (cause) {
      const reason = summaryOf(cause);
      throw new RuntimeError('EXPRESSION_FAILED', `\`\${${code}}\` failed: ${reason}`, {
        hint: reason.startsWith('No such key') ? 'Where a key may be absent, write `.?key`.' : undefined,
        details: { expression: code },
        cause,
      });
    }
  };
}

function check(code: string, environment: Environment, path: Path): ParseResult {
  try {
    const run = environment.parse(code);
    const { error } = run.check();
    if (error === undefined) return run;
    throw error;
  } catch (thrown) {
    throw new ExpressionError(code, `\`\${${code}}\` is no expression: ${summaryOf(thrown)}`, path);
  }
}

/** CEL's own errors carry a drawing of the source in `message`, and the bare sentence in `summary`. */
function summaryOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return 'summary' in thrown && typeof thrown.summary === 'string' ? thrown.summary : thrown.message;
}

/** The keys of a mere path such as `case.user.ids[0]`, which needs no interpreter and copies nothing. */
function asSteps(node: ASTNode): Path | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [parent, key] = node.args;
  const steps = asSteps(parent);
  const step = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
  if (steps === undefined) return undefined;
  if (typeof step === 'bigint') return [...steps, Number(step)];
  return typeof step === 'string' ? [...steps, step] : undefined;
}

function follow(steps: Path, scope: Scope): unknown {
  let value: unknown = scope;
  for (const step of steps) {
    const next = memberOf(value, step);
    if (next === undefined) throw new RangeError(`No such key: ${step}`);
    value = next;
  }
  return value;
}

function memberOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined;
  return isObject(value) && !JSON.isRawJSON(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function celScope(scope: Scope): Record<string, unknown> {
  return Object.fromEntries(Object.entries(scope).map(([name, value]) => [name, celFromPlain(value)]));
}

/** Long numbers become CEL's own, and objects that CEL would take for class instances become maps. */
function celFromPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (JSON.isRawJSON(value)) {
    return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON);
  }
  if (isObject(value) && Object.hasOwn(value, 'constructor')) {
    return new Map(Object.entries(value).map(([key, member]) => [key, celFromPlain(member)]));
  }
  return changeMembers(value, celFromPlain);
}

function plainFromCel(value: unknown): unknown {
  if (typeof value === 'bigint') return plainInteger(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`the result is ${value}, which JSON cannot hold`);
  }
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (value instanceof Optional) return value.hasValue() ? plainFromCel(value.value()) : null;
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

/** The same list or object if `change` changes none of its members, else a changed copy. */
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
