import {
  compileExpressions,
  type ExpectedType,
  type Expression,
  type ExpressionError,
  findExpressionErrors,
} from '../expression/expression.ts';
import type { Path, YamlDocument } from './document.ts';
import type { Finding } from './finding.ts';
import { exactValueAt, keysIn, valueAt } from './read.ts';

export interface ExpressionField {
  readonly path: Path;
  readonly variables: readonly string[];
  readonly wanted?: ExpectedType | undefined;
}

/** Compiles the tree at `path`, in which numbers keep their digits; undefined without one. Throws ExpressionError. */
export function expressionAt(
  document: YamlDocument,
  path: Path,
  variables: readonly string[],
): Expression | undefined {
  const tree = exactValueAt(document, path);
  return tree === undefined ? undefined : compileExpressions(tree, variables);
}

/** Like `expressionAt`, but an absent mapping is empty. */
export function mappingAt(document: YamlDocument, path: Path, variables: readonly string[]): Expression {
  return expressionAt(document, path, variables) ?? compileExpressions({}, []);
}

export function findBadExpressionsAt(
  document: YamlDocument,
  { path, variables, wanted }: ExpressionField,
  hintFor: (error: ExpressionError) => string | undefined,
): Finding[] {
  return findExpressionErrors(valueAt(document, path), variables, wanted).map((error) => ({
    path: [...path, ...error.path],
    message: error.message,
    hint: hintFor(error),
  }));
}

interface LocatedText {
  readonly path: Path;
  readonly text: string;
}

/** The texts of the tree at `path`, except those at or below a path in `except`. */
export function textsAt(document: YamlDocument, path: Path, except: readonly Path[] = []): LocatedText[] {
  return textsBut(valueAt(document, path), path, new Set(except.map((other) => JSON.stringify(other))));
}

function textsBut(value: unknown, path: Path, except: ReadonlySet<string>): LocatedText[] {
  if (except.size > 0 && except.has(JSON.stringify(path))) return [];
  if (typeof value === 'string') return [{ path, text: value }];
  return keysIn(value).flatMap((key) => textsBut(Reflect.get(Object(value), key), [...path, key], except));
}

export function findExpressionIn(text: string): string | undefined {
  return /\$\{[^}]*\}/.exec(text)?.[0];
}

interface ExpressionPaths {
  readonly evaluated: readonly Path[];
  readonly data: readonly Path[];
  /** The variable whose members are the bare names of templates, such as `case`. */
  readonly root: string;
}

/** Reports each `${…}` of a suite or pipeline that is not evaluated, and each `{{…}}` inside an expression field. */
export function findUnevaluatedExpressions(
  document: YamlDocument,
  { evaluated, data, root }: ExpressionPaths,
): Finding[] {
  const literal = textsAt(document, ['spec'], [...evaluated, ...data]);
  return [
    ...literal.flatMap(({ path, text }): Finding[] => {
      if (findExpressionIn(text) === undefined) return [];
      const message = 'is used literally: expressions are not evaluated here';
      return [{ path, message, hint: 'Write the value itself.' }];
    }),
    ...evaluated
      .flatMap((path) => textsAt(document, path))
      .flatMap((text) => findForeignTemplate(text, root)),
  ];
}

function findForeignTemplate({ path, text }: LocatedText, root: string): Finding[] {
  const [template, inner = ''] = /\{\{\s*([^{}]*?)\s*\}\}/.exec(text) ?? [];
  if (template === undefined) return [];
  const message = `\`${template}\` is used literally`;
  const isBare = /^\w+$/.test(inner) && inner !== root;
  const hint =
    inner === '' ? 'Expressions are `${…}`.' : `Write \`\${${isBare ? `${root}.` : ''}${inner}}\`.`;
  return [{ severity: 'warning', path, message, hint }];
}
