import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { Problem } from '../../yaml/problem.ts';
import type { ForeignChecks } from '../foreign-checks.ts';
import type { HandlerPlace } from '../placeholders.ts';
import type { Report } from '../report.ts';

/** What the readers of a foreign file share. */
export interface Reading {
  readonly document: YamlDocument;
  /** Where the file’s handlers belong. */
  readonly place: HandlerPlace;
  readonly isPlugin: boolean;
  readonly checks: ForeignChecks;
  readonly searchPath: string;
  /** Whether what is dropped must not be missed: `on_failure: deny` of the import. */
  readonly mustHold: boolean;
  readonly say: (report: Report) => void;
}

/** Says that no hook of a file runs, because the file itself says so: an error where guards must not be missed. */
export function saySwitchedOff({ mustHold, say }: Reading, path: Path, how: string): void {
  const message = `is ${how}: no hook of this file runs`;
  const hint = '`on_failure: deny` holds here, and a guard that is switched off guards nothing.';
  say({
    severity: mustHold ? 'error' : 'warning',
    path,
    message,
    atKey: true,
    ...(mustHold ? { hint } : {}),
  });
}

/** A report about a foreign file, put in its place: a path of keys and indices, then the message as it is. */
export function locateForeign(document: YamlDocument, report: Report): Problem {
  const { severity, path, message, hint, atKey } = report;
  const place = writePath(path);
  return {
    severity,
    ...(atKey ? document.keyPositionOf(path) : document.positionOf(path)),
    message: place === '' ? message : `${place}: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  };
}

function writePath(path: Path): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}
