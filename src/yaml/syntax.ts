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
import { shorten } from '../text/shorten.ts';
import type { Problem, SourceLocation } from './problem.ts';

/** The message for nesting beyond our limit or that of the parser. */
export const tooDeep = 'the YAML is nested too deeply';

/** What the parser found. Of its errors the first counts: what follows is nearly always the echo of it. */
export function syntaxProblems(document: Document.Parsed, at: (offset: number) => SourceLocation): Problem[] {
  // Where the parser gives up depends on the stack it has, and so do the errors that follow.
  const exhausted = document.errors.filter(({ code }) => code === 'RESOURCE_EXHAUSTION').slice(0, 1);
  const [first] = exhausted.length > 0 ? exhausted : document.errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const warnings = document.warnings.map(
    (warning): Problem => ({ ...at(warning.pos[0]), severity: 'warning', message: wordSyntax(warning) }),
  );
  return [...(first === undefined ? [] : [toProblem(first, document, at)]), ...warnings];
}

function toProblem(
  error: YAMLError,
  document: Document.Parsed,
  at: (offset: number) => SourceLocation,
): Problem {
  const opened =
    error.code === 'MISSING_CHAR' || error.code === 'BAD_INDENT' ? openedBefore(document, error) : undefined;
  if (opened !== undefined) {
    const { offset, sign, end } = opened;
    const message = `YAML: \`${sign}\` is opened here and not closed`;
    return { ...at(offset), severity: 'error', message, hint: `Write \`${end}\` where the value ends.` };
  }
  const hint = /\btabs?\b/.test(error.message) ? tabHint : hints[error.code];
  return {
    ...at(error.pos[0]),
    severity: 'error',
    message: wordSyntax(error),
    ...(hint !== undefined && { hint }),
  };
}

const tabHint = 'Indent with spaces; YAML takes no tabs.';

const hints: Readonly<Partial<Record<ErrorCode, string>>> = {
  TAB_AS_INDENT: tabHint,
  BAD_INDENT: 'Indent it as far as the key above that it belongs beside.',
  BAD_ALIAS: 'A value that begins with `*` needs quotes, such as "*".',
  BLOCK_AS_IMPLICIT_KEY: 'A value with `: ` in it needs quotes; a key of its own needs a line of its own.',
  BAD_SCALAR_START: 'Put the whole value into quotes.',
  UNEXPECTED_TOKEN: 'A value with `{`, `}`, `[`, `]` or `,` in it needs quotes, such as "${case.id}".',
  MISSING_CHAR: 'A key needs a colon and a space behind it, and entries between brackets need commas.',
  MULTILINE_IMPLICIT_KEY: 'A key needs a colon and a space behind it, on the same line.',
};

/** The quotation mark or bracket before the error that has no end. */
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

/** The parser quotes what it found, which may be the whole file. */
const MAX_MESSAGE = 300;

/** For a parser’s sentence that goes on after a colon. */
export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/**
 * All documents of a text, syntax errors and all, without a check of what they hold. Known tags such as !!binary stay
 * unresolved: every value must be one that JSON has.
 */
export function parseYaml(text: string, lineCounter: LineCounter): readonly Document.Parsed[] {
  const options = {
    lineCounter,
    merge: true,
    stringKeys: true,
    // Found in tree.ts, which can name the key.
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
  };
  const documents = parseAllDocuments(text, options);
  return 'empty' in documents ? [] : documents;
}
