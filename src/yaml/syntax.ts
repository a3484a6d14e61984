import { type Document, type LineCounter, parseAllDocuments, type YAMLError } from 'yaml';
import { shorten } from '../text/shorten.ts';
import type { Problem, SourceLocation } from './problem.ts';

/** The message for nesting beyond our limit or that of the parser. */
export const tooDeep = 'the YAML is nested too deeply';

/** What the parser found. One error per line: what follows on the same line is nearly always the echo of the first. */
export function syntaxProblems(document: Document.Parsed, at: (offset: number) => SourceLocation): Problem[] {
  const byLine = new Map<number, Problem>();
  // Where the parser gives up depends on the stack it has, and so do the errors that follow.
  const exhausted = document.errors.filter(({ code }) => code === 'RESOURCE_EXHAUSTION').slice(0, 1);
  for (const error of exhausted.length > 0 ? exhausted : document.errors) {
    const problem: Problem = { ...at(error.pos[0]), severity: 'error', message: wordSyntax(error) };
    if (!byLine.has(problem.line)) byLine.set(problem.line, problem);
  }
  const warnings = document.warnings.map(
    (warning): Problem => ({ ...at(warning.pos[0]), severity: 'warning', message: wordSyntax(warning) }),
  );
  return [...byLine.values(), ...warnings];
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
