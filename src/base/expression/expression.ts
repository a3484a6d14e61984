import { stringifyJson } from '../json/json.ts';
import { compileCode, withVariables } from './cel.ts';
import { ExpressionError, type TreePath, type Variables } from './error.ts';
import { isPlainCode } from './plain-code.ts';
import { splitTemplate } from './template.ts';

export { ExpressionError } from './error.ts';

type Evaluate = (scope: Variables) => unknown;

export interface Expression {
  /** Long integers keep their digits (`JSON.rawJSON`). Throws EXPRESSION_FAILED. */
  evaluate(scope: Variables): unknown;
}

/**
 * Compiles every `${…}` (CEL) in the strings of a YAML or JSON tree; keys are left alone. A string that is one `${…}`
 * keeps the type of its value. Within text, strings are inserted as they are and all else as JSON. `$${` is a literal
 * `${`. JSON numbers are doubles that mix with integers; an absent `.?field` gives null. Throws the first
 * ExpressionError, also for unknown variables and functions.
 */
export function compileExpressions(value: unknown, variables: readonly string[]): Expression {
  const compiler = createCompiler(variables);
  const evaluate = compileNode(value, [], compiler) ?? (() => value);
  if (compiler.errors[0] !== undefined) throw compiler.errors[0];
  return { evaluate };
}

/**
 * All errors that `compileExpressions` would throw, in the order of the tree. With an expected type, also reports texts
 * that are not one whole `${…}` and expressions that can never have that type.
 */
export function findExpressionErrors(
  value: unknown,
  variables: readonly string[],
  wanted?: ExpectedType,
): readonly ExpressionError[] {
  const compiler = createCompiler(variables);
  compileNode(value, [], compiler);
  const { errors } = compiler;
  if (wanted === undefined || errors.length > 0 || typeof value !== 'string') return errors;
  return findTypeErrors(value, variables, wanted);
}

export type ExpectedType = 'bool' | 'number' | 'list' | 'map';

function findTypeErrors(
  value: string,
  variables: readonly string[],
  wanted: ExpectedType,
): readonly ExpressionError[] {
  const { words, types } = expectedTypes[wanted];
  const hint = hintOf(value, variables, wanted);
  const refuse = (message: string) => [new ExpressionError(value, message, { path: [], hint })];
  const [part, ...rest] = splitTemplate(value, []);
  if (typeof part !== 'object' || rest.length > 0)
    return refuse(`must be a single \`\${…}\` that gives ${words}`);
  const { type } = compileCode(part.code, withVariables(variables), []);
  const isPossible = [...types, 'dyn', 'optional'].some((known) => type.startsWith(known));
  return isPossible ? [] : refuse(`must give ${words}, but \`${value}\` gives a value of type ${type}`);
}

function hintOf(text: string, variables: readonly string[], wanted: ExpectedType): string {
  const whole = `\${${text.trim()}}`;
  if (!text.includes('${') && findExpressionErrors(whole, variables, wanted).length === 0)
    return `Write \`${whole}\`.`;
  return `Write a single expression, such as \`\${${variables[0] ?? ''}${expectedTypes[wanted].example}}\`.`;
}

interface ExpectedTypeInfo {
  readonly words: string;
  readonly example: string;
  readonly types: readonly string[];
}

const expectedTypes: Readonly<Record<ExpectedType, ExpectedTypeInfo>> = {
  bool: { words: 'true or false', example: '.amount > 100', types: ['bool'] },
  number: { words: 'a number', example: '.amount', types: ['int', 'uint', 'double'] },
  list: { words: 'a list', example: '.orders', types: ['list'] },
  map: { words: 'a mapping', example: '.order', types: ['map'] },
};

interface Compiler {
  readonly errors: ExpressionError[];
  /** Throws ExpressionError. Code that `isPlainCode` accepts is compiled on first evaluation. */
  compile(code: string, path: TreePath): Evaluate;
}

function createCompiler(variables: readonly string[]): Compiler {
  let environment: ReturnType<typeof withVariables> | undefined;
  const compileNow = (code: string, path: TreePath): Evaluate => {
    environment ??= withVariables(variables);
    return compileCode(code, environment, path).evaluate;
  };
  const compile = (code: string, path: TreePath): Evaluate => {
    if (!isPlainCode(code, variables)) return compileNow(code, path);
    let evaluate: Evaluate | undefined;
    return (scope) => {
      evaluate ??= compileNow(code, path);
      return evaluate(scope);
    };
  };
  return { errors: [], compile };
}

/** Returns undefined for a tree without expressions, which is its own value. */
function compileNode(node: unknown, path: TreePath, compiler: Compiler): Evaluate | undefined {
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

function compileText(text: string, path: TreePath, compiler: Compiler): Evaluate | undefined {
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
