import { isAbsolute, relative } from 'node:path';
import { isObject } from '../json/json.ts';
import { findNearest } from '../text/suggest.ts';
import type { Path, YamlDocument } from '../yaml/document.ts';
import { type Finding, locateFinding } from '../yaml/finding.ts';
import type { Problem } from '../yaml/problem.ts';
import { valueAt } from '../yaml/read.ts';

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
  /** Whether a person reads all that is left out, as at `hooks import`. */
  readonly notesLeft: boolean;
  readonly addFinding: (finding: Finding) => void;
}

/**
 * What becomes of a top-level key of a file. guard: it stands for guards that cannot run here, which `on_failure: deny` does
 * not allow. left: a protection of another kind, which does not hold here. Both complete a sentence about the key.
 */
type KeyUse =
  | 'read'
  | 'irrelevant'
  | { readonly guard: string; readonly isSet?: (value: unknown) => boolean }
  | { readonly left: string; readonly isSet?: (value: unknown) => boolean };

/** Every top-level key that a file of a system may have. */
export type KeyUses = Readonly<Record<string, KeyUse>>;

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

/**
 * Reports the top-level keys that hold what does not run here, and those that nobody has classified. Under `on_failure: deny` a
 * guard is an error, and so is a key that is nearly one that is read or a guard. `isEvent` tells keys that are read as events.
 */
export function reportKeys(
  { document, mustNotDrop, notesLeft, addFinding }: ImportContext,
  uses: KeyUses,
  isEvent: (key: string) => boolean = () => false,
): void {
  if (!isObject(document.value)) return;
  const guarding = Object.keys(uses).filter((key) => uses[key] === 'read' || isGuard(uses[key]));
  for (const key of document.keysOf([])) {
    const use = Object.hasOwn(uses, key) ? uses[key] : undefined;
    if (use === 'read' || use === 'irrelevant' || (use === undefined && isEvent(key))) continue;
    if (use !== undefined && use.isSet?.(valueAt(document, [key])) === false) continue;
    const at = { path: [key], atKey: true } as const;
    if (use !== undefined && 'left' in use) {
      if (mustNotDrop || notesLeft) addFinding({ ...at, severity: 'note', message: use.left });
    } else if (use !== undefined) {
      const severity = mustNotDrop ? 'error' : 'warning';
      addFinding({ ...at, severity, message: use.guard, ...(mustNotDrop && { hint: droppedGuard }) });
    } else {
      const meant = findNearest(key, guarding);
      const severity = meant !== undefined && mustNotDrop ? 'error' : 'warning';
      const message = meant === undefined ? 'is not known and ignored' : 'is not known';
      addFinding({
        ...at,
        severity,
        message,
        ...(meant !== undefined && { hint: `did you mean \`${meant}\`?` }),
      });
    }
  }
}

const droppedGuard = '`on_failure: deny` holds here, and a guard that does not run guards nothing.';

function isGuard(use: KeyUse | undefined): boolean {
  return typeof use === 'object' && 'guard' in use;
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
