import type { Path, YamlDocument } from '../../yaml/document.ts';
import type { DialectChecks } from '../foreign-checks.ts';

/** What the check of one entry is given. */
export interface EntryCheckInput {
  readonly document: YamlDocument;
  readonly path: Path;
  readonly folder: string;
  readonly searchPath: string;
  readonly checks: DialectChecks;
}
