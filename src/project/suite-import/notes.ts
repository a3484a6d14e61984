import { shorten } from '../../text/shorten.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { type Problem, type SourceLocation, sortProblems } from '../../yaml/problem.ts';

/** What an import has to say: `error` was left out, `warning` was carried but differs, `note` changes no verdict. */
export interface Notes {
  readonly add: (
    severity: Problem['severity'],
    at: Path | SourceLocation,
    message: string,
    hint?: string,
  ) => void;
  /** The same of a row of a table, where many rows say the same: of equal messages of one file the first is kept. */
  readonly addOfRow: Notes['add'];
  /** Each once, in the order of the files. */
  all(): readonly Problem[];
}

/** Collects notes about a document; a path stands for its place in it. */
export function collectNotes(document: Pick<YamlDocument, 'positionOf'>): Notes {
  const found = new Map<string, Problem>();
  const adder =
    (keyOf: (place: SourceLocation) => string): Notes['add'] =>
    (severity, at, message, hint) => {
      const place = 'file' in at ? at : document.positionOf(at);
      const problem = {
        ...place,
        severity,
        message: shorten(message, 500),
        ...(hint !== undefined && { hint }),
      };
      const key = `${keyOf(place)} ${message}`;
      if (!found.has(key)) found.set(key, problem);
    };
  return {
    add: adder(({ file, line, column }) => `${file}:${line}:${column}`),
    addOfRow: adder(({ file }) => file),
    all: () => sortProblems([...found.values()]),
  };
}
