import { isAbsolute, relative } from 'node:path';
import type { Path, YamlDocument } from '../yaml/document.ts';
import { type Finding, locateFinding } from '../yaml/finding.ts';
import type { Problem } from '../yaml/problem.ts';

/** The input of the readers of a foreign file. */
export interface ImportContext {
  readonly document: YamlDocument;
  /** The folder of the project whose hooks they are, absolute. */
  readonly projectDir: string;
  /** The folder of the plugin whose hooks they are, absolute; absent: of no plugin. */
  readonly pluginRoot?: string;
  readonly isPlugin: boolean;
  /** A PATH; empty: unknown. */
  readonly searchPath: string;
  /** The provider that judges by prompts, and the config that declares it with what is laid over it, absolute: `prompt_provider` of the import. */
  readonly judge?: { readonly provider: string; readonly configFiles: readonly string[] };
  /** Whether a dropped guard is an error: `on_failure: deny` of the import. */
  readonly mustNotDrop: boolean;
  readonly addFinding: (finding: Finding) => void;
}

/** Reports that the file itself disables its hooks: an error under `on_failure: deny`, else a warning. */
export function reportDisabled({ mustNotDrop, addFinding }: ImportContext, path: Path, how: string): void {
  const message = `is ${how}: no hook of this file runs`;
  const hint = '`on_failure: deny` holds here, and a guard that is switched off guards nothing.';
  addFinding({
    severity: mustNotDrop ? 'error' : 'warning',
    path,
    message,
    atKey: true,
    ...(mustNotDrop ? { hint } : {}),
  });
}

/** A finding in a foreign file, whose keys no schema lists, as a problem with its position. */
export function locateImportFinding(document: YamlDocument, finding: Finding): Problem {
  return locateFinding(document, finding, {});
}

/** A path as a config file in `folder` would write it. */
export function shortPath(path: string, folder: string): string {
  const short = relative(folder, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? short : `./${short}`;
}
