import {
  type Document,
  type ErrorCode,
  isCollection,
  isScalar,
  type LineCounter,
  parseAllDocuments,
  visit,
  type YAMLError,
} from 'yaml';
import { shorten } from '../text/phrases.ts';
import type { Problem, SourceLocation } from './problem.ts';

export const tooDeep = 'the YAML is nested too deeply';

/** Reports the warnings and the first error; later errors usually follow from it. `text` is the parser's input. */
export function syntaxProblems(
  document: Document.Parsed,
  at: (offset: number) => SourceLocation,
  text = '',
): Problem[] {
  // Where the parser runs out of stack varies, and so do the errors that follow.
  const exhausted = document.errors.filter(({ code }) => code === 'RESOURCE_EXHAUSTION').slice(0, 1);
  const [first] = exhausted.length > 0 ? exhausted : document.errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const warnings = document.warnings.map(
    (warning): Problem => ({ ...at(warning.pos[0]), severity: 'warning', message: wordSyntax(warning) }),
  );
  return [...(first === undefined ? [] : [toProblem(first, document, { at, text })]), ...warnings];
}

function toProblem(
  error: YAMLError,
  document: Document.Parsed,
  { at, text }: { readonly at: (offset: number) => SourceLocation; readonly text: string },
): Problem {
  const opened =
    error.code === 'MISSING_CHAR' || error.code === 'BAD_INDENT' ? openedBefore(document, error) : undefined;
  if (opened !== undefined) {
    const { offset, sign, end } = opened;
    const message = `YAML: \`${sign}\` is opened here but never closed`;
    return { ...at(offset), severity: 'error', message, hint: `Write \`${end}\` where the value ends.` };
  }
  const plain = plainWords(error, text);
  if (plain !== undefined) return { ...at(error.pos[0]), severity: 'error', ...plain };
  const hint = /\btabs?\b/.test(error.message) ? tabHint : hints[error.code];
  return {
    ...at(error.pos[0]),
    severity: 'error',
    message: wordSyntax(error),
    ...(hint !== undefined && { hint }),
  };
}

function plainWords(
  { code, pos: [offset], message }: YAMLError,
  text: string,
): { readonly message: string; readonly hint: string } | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const [line = ''] = text.slice(lineStart).split('\n', 1);
  const rest = line.slice(offset - lineStart).trim();
  if (code === 'BAD_INDENT' && message.includes('same column'))
    return indentWords(line, text.slice(0, lineStart).split('\n').slice(0, -1));
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && /^\w[^"'{}[\]#]*: /.test(rest) && rest.length <= 100)
    return {
      message: 'the text contains `: `, so YAML reads the part before it as a key',
      hint: `Write the whole text in quotes, ${JSON.stringify(rest)}; a separate key needs its own line.`,
    };
  const [word] = /^\*[^\s,\]}]*/.exec(rest) ?? [];
  if (code === 'BAD_ALIAS' && word !== undefined)
    return {
      message: '`*` without quotes begins a YAML alias, not text',
      hint: `Write "${word}", with quotes.`,
    };
  const [braced] = /\$?\{[^{}"]*\}/.exec(line.slice(Math.max(0, offset - lineStart - 1))) ?? [];
  if (code === 'UNEXPECTED_TOKEN' && message.includes('flow-map-start') && braced?.startsWith('$') === true)
    return {
      message: 'inside `{…}` or `[…]`, a value with a brace in it needs quotes',
      hint: `Write "${braced}", with quotes.`,
    };
  return undefined;
}

function indentWords(
  line: string,
  above: readonly string[],
): { readonly message: string; readonly hint: string } | undefined {
  const [, indent = '', key] = /^( *)(?:- )?([\w$./-]+):/.exec(line) ?? [];
  if (key === undefined) return undefined;
  let beside: { readonly width: number; readonly line: number } | undefined;
  for (const [index, text] of [...above.entries()].toReversed()) {
    const width = /^( *)[^\s#]/.exec(text)?.[1]?.length;
    if (width === undefined) continue;
    if (width <= indent.length) break;
    if (beside === undefined || width < beside.width) beside = { width, line: index + 1 };
  }
  if (beside === undefined) return undefined;
  const spaces = (width: number) => (width === 1 ? '1 space' : `${width} spaces`);
  return {
    message: `\`${key}\` is indented by ${spaces(indent.length)}, but its neighbour (line ${beside.line}) by ${spaces(beside.width)}`,
    hint: `Indent it by ${spaces(beside.width)}.`,
  };
}

const tabHint = 'Indent with spaces; YAML does not allow tabs.';

const hints: Readonly<Partial<Record<ErrorCode, string>>> = {
  TAB_AS_INDENT: tabHint,
  BAD_INDENT: 'Indent it as far as the key above on the same level.',
  BAD_ALIAS: 'A value that begins with `*` needs quotes, such as "*".',
  BLOCK_AS_IMPLICIT_KEY: 'A value with `: ` in it needs quotes; a separate key needs its own line.',
  BAD_SCALAR_START: 'Write the whole value in quotes.',
  UNEXPECTED_TOKEN: 'A value with `{`, `}`, `[`, `]` or `,` in it needs quotes, such as "${case.id}".',
  MISSING_CHAR: 'A key needs a colon and a space after it, and entries between brackets need commas.',
  MULTILINE_IMPLICIT_KEY: 'A key needs a colon and a space after it, on the same line.',
};

function openedBefore(
  document: Document.Parsed,
  { pos: [offset], message }: YAMLError,
): { readonly offset: number; readonly sign: string; readonly end: string } | undefined {
  const [, end] = /closing (["'])|end with an? ([\]}])/.exec(message)?.filter(Boolean) ?? [];
  if (end === undefined) return undefined;
  const sign = { ']': '[', '}': '{' }[end] ?? end;
  let found: number | undefined;
  visit(document, {
    Node: (_, node) => {
      const start = node.range?.[0];
      if (start === undefined || start >= offset) return;
      const isFlow = isCollection(node) && node.flow === true && end in { ']': 1, '}': 1 };
      const isQuoted = isScalar(node) && String(node.type).startsWith('QUOTE');
      if (isFlow || (isQuoted && sign === end)) found = start;
    },
  });
  return found === undefined ? undefined : { offset: found, sign, end };
}

function wordSyntax(error: YAMLError): string {
  if (error.code === 'RESOURCE_EXHAUSTION') return tooDeep;
  if (error.code === 'NON_STRING_KEY') return 'a key must be text, not a list or a mapping';
  if (error.code === 'TAG_RESOLVE_FAILED')
    return `${shorten(lowerFirst(error.message), MAX_MESSAGE)}; the value is read as if it had none`;
  return `YAML: ${shorten(lowerFirst(error.message), MAX_MESSAGE)}`;
}

/** The parser may quote the whole file. */
const MAX_MESSAGE = 300;

/** For a sentence after a colon. */
export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/**
 * Parses all documents of a text without checking their values. Known tags such as !!binary stay unresolved, since
 * every value must be a JSON value.
 */
export function parseYaml(text: string, lineCounter: LineCounter): readonly Document.Parsed[] {
  const options = {
    lineCounter,
    merge: true,
    stringKeys: true,
    // tree.ts finds duplicates, because it can name the key.
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
  };
  const documents = parseAllDocuments(text, options);
  return 'empty' in documents ? [] : documents;
}
