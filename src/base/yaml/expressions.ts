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

/** A tree of a document whose strings are expressions. */
export interface ExpressionField {
  readonly path: Path;
  /** The variables that its expressions may see. */
  readonly variables: readonly string[];
  /** What a text must give; undefined where any text will do. */
  readonly wanted?: ExpectedType | undefined;
}

/** The compiled tree at `path`, in which numbers keep their digits; undefined when there is none. Throws ExpressionError. */
export function expressionAt(
  document: YamlDocument,
  path: Path,
  variables: readonly string[],
): Expression | undefined {
  const tree = exactValueAt(document, path);
  return tree === undefined ? undefined : compileExpressions(tree, variables);
}

/** Like `expressionAt`, and no keys at all where there is none. */
export function mappingAt(document: YamlDocument, path: Path, variables: readonly string[]): Expression {
  return expressionAt(document, path, variables) ?? compileExpressions({}, []);
}

/** A finding for each expression of the field that cannot be compiled there, with the hint that `hintFor` gives. */
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

/** A text of a document, and where it stands. */
interface LocatedText {
  readonly path: Path;
  readonly text: string;
}

/** Every text of the tree at `path`, but what stands at or below one of `except`. */
export function textsAt(document: YamlDocument, path: Path, except: readonly Path[] = []): LocatedText[] {
  return textsBut(document, path, new Set(except.map((other) => JSON.stringify(other))));
}

function textsBut(document: YamlDocument, path: Path, except: ReadonlySet<string>): LocatedText[] {
  if (except.size > 0 && except.has(JSON.stringify(path))) return [];
  const value = valueAt(document, path);
  if (typeof value === 'string') return [{ path, text: value }];
  return keysIn(value).flatMap((key) => textsBut(document, [...path, key], except));
}

/** The first `${…}` of a text; undefined when there is none. */
export function findExpressionIn(text: string): string | undefined {
  return /\$\{[^}]*\}/.exec(text)?.[0];
}

interface ExpressionPaths {
  /** The paths below which texts are expressions. */
  readonly evaluated: readonly Path[];
  /** The paths of data, which is not checked. */
  readonly data: readonly Path[];
  /** What bare names of a template are members of in an expression, such as `case`. */
  readonly root: string;
}

/** Findings for each `${…}` of a suite or pipeline where no expression is evaluated, and each `{{…}}` where one is. */
export function findUnevaluatedExpressions(
  document: YamlDocument,
  { evaluated, data, root }: ExpressionPaths,
): Finding[] {
  const literal = textsAt(document, ['spec'], [...evaluated, ...data]);
  return [
    ...literal.flatMap(({ path, text }): Finding[] => {
      if (findExpressionIn(text) === undefined) return [];
      const message = 'is taken as it stands: no expression is evaluated here';
      return [{ path, message, hint: 'Write the value itself.' }];
    }),
    ...evaluated
      .flatMap((path) => textsAt(document, path))
      .flatMap((text) => findForeignTemplate(text, root)),
  ];
}

/** What templates of Jinja, Nunjucks, Handlebars and Mustache look like. */
function findForeignTemplate({ path, text }: LocatedText, root: string): Finding[] {
  const [template, inner = ''] = /\{\{\s*([^{}]*?)\s*\}\}/.exec(text) ?? [];
  if (template === undefined) return [];
  const message = `\`${template}\` is taken as it stands`;
  const isBare = /^\w+$/.test(inner) && inner !== root;
  const hint =
    inner === '' ? 'Expressions are `${…}`.' : `Write \`\${${isBare ? `${root}.` : ''}${inner}}\`.`;
  return [{ severity: 'warning', path, message, hint }];
}
