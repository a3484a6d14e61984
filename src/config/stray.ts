import { takesInlineCode } from '../files/script.ts';
import type { Path, YamlDocument } from '../yaml/document.ts';
import type { Finding } from '../yaml/finding.ts';
import { isAt, itemsAt, textAt, valueAt } from '../yaml/read.ts';
import { foreignAt } from './foreign/entries.ts';
import { type ExecEntry, execEntries } from './references.ts';

/** A text of a file, and where it stands. */
export interface LocatedText {
  readonly path: Path;
  readonly text: string;
}

/** Every text of the tree at `path`, but what stands at or below one of `except`. */
export function textsAt(document: YamlDocument, path: Path, except: readonly Path[] = []): LocatedText[] {
  if (except.some((other) => isSamePath(other, path))) return [];
  const value = valueAt(document, path);
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  const keys: readonly (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => textsAt(document, [...path, key], except));
}

function isSamePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((segment, index) => segment === b[index]);
}

/** Whether a text has `${…}` in it. */
export function holdsExpression(text: string): boolean {
  return /\$\{[^}]*\}/.test(text);
}

/**
 * A report for each value of a RuntimeConfig with `${…}` where no variable is expanded. In arguments, which
 * may be code of another language, it is always a warning.
 */
export function findUnfilledVariables(document: YamlDocument, unusable: 'error' | 'warning'): Finding[] {
  const owned = execEntries(document).flatMap((entry) => textsOfEntry(document, entry));
  const others = ['providers', 'imports'].flatMap((key) => itemsAt(document, ['spec', key]));
  const declared = [...others, ['spec', 'state_store']].flatMap((path) =>
    textsAt(document, path, [[...path, 'additional_config']]),
  );
  return [...owned, ...declared].flatMap(({ path, text }): Finding[] => {
    if (!holdsExpression(text)) return [];
    const isArgument = isAt(path, 'spec.tools.*.exec.args.*', 'spec.evals.*.args.*', 'spec.hooks.*.args.*');
    const message = `\`${/\$\{[^}]*\}/.exec(text)?.[0]}\` is not filled in here; it is taken as it stands`;
    return [{ severity: isArgument ? 'warning' : unusable, path, message, hint: hintAt(path) }];
  });
}

export interface ExpressionPaths {
  /** The paths below which texts are expressions. */
  readonly evaluated: readonly Path[];
  /** The paths of data, which is not checked. */
  readonly data: readonly Path[];
}

/** Of a suite or pipeline: `${…}` where no expression is evaluated, and `{{…}}` where `${…}` is what is filled in. */
export function findUnevaluatedExpressions(
  document: YamlDocument,
  { evaluated, data }: ExpressionPaths,
): Finding[] {
  const literal = textsAt(document, ['spec'], [...evaluated, ...data]);
  return [
    ...literal.flatMap(({ path, text }): Finding[] => {
      if (!holdsExpression(text)) return [];
      const message = 'is taken as it stands: no expression is evaluated here';
      return [{ severity: 'error', path, message, hint: 'Write the value itself.' }];
    }),
    ...evaluated.flatMap((path) => textsAt(document, path)).flatMap(findForeignTemplate),
  ];
}

/** What templates of Jinja, Nunjucks, Handlebars and Mustache look like. */
function findForeignTemplate({ path, text }: LocatedText): Finding[] {
  const [template, inner = ''] = /\{\{\s*([^{}]*?)\s*\}\}/.exec(text) ?? [];
  if (template === undefined) return [];
  const message = `\`${template}\` is taken as it stands`;
  const hint = inner === '' ? 'Expressions are `${…}`.' : `Expressions are \`\${${inner}}\`.`;
  return [{ severity: 'warning', path, message, hint }];
}

/**
 * The texts of an entry that Signalbox interprets; commands and arguments of foreign hooks are not among
 * them.
 */
function textsOfEntry(document: YamlDocument, { path }: ExecEntry): LocatedText[] {
  const variables = textsAt(document, [...path, 'env']);
  if (foreignAt(document, path) !== undefined) return variables;
  const args = itemsAt(document, [...path, 'args']);
  const isCode = takesInlineCode(
    textAt(document, [...path, 'command']) ?? '',
    args.map((item) => textAt(document, item) ?? ''),
  );
  const keys = ['command', 'cwd', ...(isCode ? [] : ['args'])];
  return [...variables, ...keys.flatMap((key) => textsAt(document, [...path, key]))];
}

function hintAt(path: Path): string {
  const key = path.at(-2) === 'env' || path.at(-2) === 'args' ? path.at(-2) : path.at(-1);
  switch (key) {
    case 'env':
      return 'Name the variable alone, as in `env: [HOME_PAGE]`: its value is passed on.';
    case 'args':
      return 'Pass the variable on with `env: [NAME]`, and read it in the program.';
    case 'api_key':
      return 'Write `credential: {credential_env: NAME}`.';
    case 'command':
    case 'cwd':
      return 'Write the path itself; a relative one starts at the config file’s folder.';
    default:
      return 'Write the value itself.';
  }
}
