import { isAbsolute, relative } from 'node:path';
import { isObject } from '../base/json/json.ts';
import { findNearest } from '../base/text/suggest.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Finding, locateFinding } from '../base/yaml/finding.ts';
import type { Problem, SourceLocation } from '../base/yaml/problem.ts';
import { valueAt } from '../base/yaml/read.ts';
import type { DeclaredHook, ProcessConfig } from '../process/process-config.ts';

/** The files of a system in which hooks are declared: whole documents, or entries in a mapping of events. */
export interface HookFiles<Settings = unknown> {
  /** Schemas for parts of files, compiled when the package is built. */
  readonly schemas?: readonly object[];
  /** A note on every import of hooks of this dialect. */
  readonly note?: { readonly message: string; readonly hint: string };
  readonly document?: HookDocuments;
  readonly events?: HookEvents;
  addEnv?(hook: DeclaredHook<Settings>, env: readonly string[]): DeclaredHook<Settings>;
}

interface HookDocuments {
  isOwn(document: YamlDocument): boolean;
  read(context: ImportContext, folder: string): HookDraft[];
}

export interface HookEvents {
  readonly names: readonly string[];
  readonly fileKeys: KeyUses;
  readonly manifestKeys: KeyUses;
  /** The manifest's hooks are added to those of `hooks/hooks.json`; else they replace them. */
  readonly addsManifestHooks?: boolean;
  unknownEvent?(event: string): string;
  readonly settingsFolder: string;
  /** The path of a plugin's manifest, in addition to `plugin.json`. */
  readonly manifest?: string;
  /** A file without the key `hooks` has no hooks; else its events may be at top level. */
  readonly needsHooksKey: boolean;
  readonly entry: string;
  readonly example: string;
  isOwn(entry: unknown): boolean;
  read(context: ImportContext, event: string, path: Path): HookDraft[];
  reportUnknownForm?(context: ImportContext, event: string, path: Path): void;
}

export interface HookDraft {
  readonly dialect: string;
  /** A unique name. Absent: the hook is named after its event. */
  readonly name?: string;
  readonly event?: string;
  readonly source: SourceLocation;
  readonly commandPosition: SourceLocation;
  readonly timeoutMs?: number;
  readonly onFailure?: 'deny';
  /** Of the hooks in several files with the same key, one runs. Absent: the hook is never merged. */
  readonly duplicateKey?: string;
  /** Variables that `env` of the import must name for the hook. */
  readonly neededEnv?: readonly string[];
  /** The settings, and what the process adds to an empty command, no arguments and the `env` of the import. */
  toHook(context: DraftContext): DraftHook;
  toEntry(folder: string): Readonly<Record<string, unknown>>;
}

interface DraftHook {
  readonly exec?: Partial<ProcessConfig>;
  readonly settings: unknown;
}

export interface DraftContext {
  readonly document: YamlDocument;
  readonly path: Path;
  readonly env: readonly string[];
  readonly folder: string;
  readonly stateFolder: string;
}

export interface ImportContext {
  readonly document: YamlDocument;
  /** The project folder, absolute. */
  readonly projectDir: string;
  /** The plugin folder, absolute. Absent: the hooks belong to no plugin. */
  readonly pluginRoot?: string;
  readonly isPlugin: boolean;
  readonly searchPath: string;
  /**
   * `prompt_provider` of the import: the provider that judges by prompts, and the absolute paths of the config and its
   * overlays.
   */
  readonly judge?: { readonly provider: string; readonly configFiles: readonly string[] };
  /** A dropped guard is an error: `on_failure: deny` of the import. */
  readonly mustNotDrop: boolean;
  /** A person reads everything that is left out, as in `hooks import`. */
  readonly notesLeft: boolean;
  readonly addFinding: (finding: Finding) => void;
}

/**
 * The treatment of a top-level key. guard: a guard that cannot run here, an error under `on_failure: deny`. left:
 * another protection that does not apply here. Both complete a sentence about the key.
 */
type KeyUse =
  | 'read'
  | 'irrelevant'
  | { readonly guard: string; readonly isSet?: (value: unknown) => boolean }
  | { readonly left: string; readonly isSet?: (value: unknown) => boolean };

/** Every top-level key that a file of a system may have. */
export type KeyUses = Readonly<Record<string, KeyUse>>;

/** Reports that the file disables its hooks: an error under `on_failure: deny`, else a warning. */
export function reportDisabled({ mustNotDrop, addFinding }: ImportContext, path: Path, how: string): void {
  const message = `is ${how}: no hook of this file runs`;
  const hint = '`on_failure: deny` is set here, and a guard that is switched off lets calls pass.';
  addFinding({
    severity: mustNotDrop ? 'error' : 'warning',
    path,
    message,
    atKey: true,
    ...(mustNotDrop ? { hint } : {}),
  });
}

/**
 * Reports the top-level keys that have no effect here, and unknown ones. Under `on_failure: deny`, a guard is an error,
 * and so is a key that resembles a key in use or a guard. `isEvent` identifies keys that are read as events.
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
      const message = meant === undefined ? 'is unknown and ignored' : 'is unknown';
      addFinding({
        ...at,
        severity,
        message,
        ...(meant !== undefined && { hint: `did you mean \`${meant}\`?` }),
      });
    }
  }
}

const droppedGuard = '`on_failure: deny` is set here, and a guard that does not run lets calls pass.';

function isGuard(use: KeyUse | undefined): boolean {
  return typeof use === 'object' && 'guard' in use;
}

export function locateImportFinding(document: YamlDocument, finding: Finding): Problem {
  return locateFinding(document, finding, {});
}

export function shortPath(path: string, folder: string): string {
  const short = relative(folder, path);
  if (short === '') return '.';
  return short.startsWith('..') || isAbsolute(short) ? short : `./${short}`;
}
