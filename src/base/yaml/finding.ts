import type { Path, YamlDocument } from './document.ts';
import type { Problem } from './problem.ts';
import { infiniteNumbersAt, valueAt } from './read.ts';
import { describePath } from './schema-path.ts';

export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly severity?: Problem['severity'];
  readonly atKey?: boolean;
  readonly about?: Problem['about'];
  /** Another part of the document on which the finding depends. If that part is invalid, the finding is dropped. */
  readonly basis?: Path;
}

export function isError({ severity = 'error' }: Pick<Finding, 'severity'>): boolean {
  return severity === 'error';
}

/** The schema distinguishes names from keys in the path. */
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

/** JSON has no infinite numbers and no NaN. */
export function findInfiniteNumbers(document: YamlDocument, path: Path): Finding[] {
  return infiniteNumbersAt(document, path).map((at) => ({
    path: at,
    message: 'must be a finite number, because JSON has no other numbers',
  }));
}

export function findCrossedBounds(
  document: YamlDocument,
  path: Path,
  [low, high]: readonly [string, string],
): Finding[] {
  const min = valueAt(document, [...path, low]);
  const max = valueAt(document, [...path, high]);
  if (typeof min !== 'number' || typeof max !== 'number' || !(min > max)) return [];
  return [
    { path: [...path, low], message: `${min} is more than ${high}, which is ${max}, so nothing can pass` },
  ];
}
