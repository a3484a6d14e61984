import { shorten } from '../../text/shorten.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Problem, SourceLocation } from '../../yaml/problem.ts';

/** What an import has to say: `error` was left out, `warning` was carried but differs, `note` changes no verdict. */
export interface Notes {
  add(severity: Problem['severity'], at: Path | SourceLocation, message: string, hint?: string): void;
  /** Each once, in the order of the file; of equal messages at many rows the first. */
  all(): readonly Problem[];
}

/** Collects notes about a document; a path stands for its place in it. */
export function collectNotes(document: Pick<YamlDocument, 'positionOf'>): Notes {
  const found = new Map<string, Problem>();
  return {
    add: (severity, at, message, hint) => {
      const place = 'file' in at ? at : document.positionOf(at);
      const problem = {
        ...place,
        severity,
        message: shorten(message, 500),
        ...(hint !== undefined && { hint }),
      };
      // A data set of 10^5 rows with one fault in all of them says so once.
      const key = 'file' in at ? `${place.file} ${message}` : `${place.line}:${place.column} ${message}`;
      if (!found.has(key)) found.set(key, problem);
    },
    all: () => [...found.values()].toSorted((a, b) => a.line - b.line || a.column - b.column),
  };
}
