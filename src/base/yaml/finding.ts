import type { Path, YamlDocument } from './document.ts';
import type { Problem } from './problem.ts';
import { infiniteNumbersAt, valueAt } from './read.ts';
import { describePath } from './schema-path.ts';

/** What is wrong at a path of a document. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Default: error. */
  readonly severity?: Problem['severity'];
  /** Point at the key instead of its value. */
  readonly atKey?: boolean;
  readonly about?: Problem['about'];
  /** What else of the document it depends on: where that is wrong itself, the finding is only an echo. */
  readonly basis?: Path;
}

/** Whether the finding is an error, rather than a warning or a note. */
export function isError({ severity = 'error' }: Pick<Finding, 'severity'>): boolean {
  return severity === 'error';
}

/** The finding as a problem of its file, with its position; the file's schema tells names from keys in the path. */
export function locateFinding(document: YamlDocument, finding: Finding, schema: object): Problem {
  const { path, message, hint, severity = 'error', atKey = false, about } = finding;
  const place = describePath(path, schema);
  return {
    severity,
    ...(atKey ? document.keyPositionOf(path) : document.positionOf(path)),
    message: place === '' ? message : `${place}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
    ...(about && { about }),
  };
}

/** A finding for each number below `path` that JSON does not have. */
export function findInfiniteNumbers(document: YamlDocument, path: Path): Finding[] {
  return infiniteNumbersAt(document, path).map((at) => ({
    path: at,
    message: 'must be a finite number: JSON has no other',
  }));
}

/** A finding where the lower bound of the mapping at `path` is above the upper one. */
export function findCrossedBounds(
  document: YamlDocument,
  path: Path,
  [low, high]: readonly [string, string],
): Finding[] {
  const min = valueAt(document, [...path, low]);
  const max = valueAt(document, [...path, high]);
  if (typeof min !== 'number' || typeof max !== 'number' || !(min > max)) return [];
  return [
    { path: [...path, low], message: `${min} is more than ${high}, which is ${max}: nothing can pass` },
  ];
}
