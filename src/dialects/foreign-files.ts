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
  /** The schemas that parts of files are checked against, which are compiled when the package is built. */
  readonly schemas?: readonly object[];
  /** What every import of hooks of this dialect is told. */
  readonly note?: { readonly message: string; readonly hint: string };
  /** Files that only this system has. */
  readonly document?: HookDocuments;
  /** Entries that may stand beside those of other systems in one file. */
  readonly events?: HookEvents;
  /** The hook with more names in the environment of its process or headers. */
  addEnv?(hook: DeclaredHook<Settings>, env: readonly string[]): DeclaredHook<Settings>;
}

interface HookDocuments {
  isOwn(document: YamlDocument): boolean;
  read(context: ImportContext, folder: string): HookDraft[];
}

/** How the entries under the events of a file are read. */
export interface HookEvents {
  readonly names: readonly string[];
  readonly fileKeys: KeyUses;
  /** Of the file that describes a plugin. */
  readonly manifestKeys: KeyUses;
  /** Whether the hooks that the manifest names stand beside those of `hooks/hooks.json`; else in their place. */
  readonly addsManifestHooks?: boolean;
  /** What a file that is said to be this system's calls an event that it does not have. */
  unknownEvent?(event: string): string;
  /** The folder of a project in which the system has its files. */
  readonly settingsFolder: string;
  /** Where, beside `plugin.json`, a plugin of the system is described. */
  readonly manifest?: string;
  /** Whether a file without the key `hooks` has no hooks; else its events may stand at the top. */
  readonly needsHooksKey: boolean;
  /** An entry in words, and an example of one, which begins with its name. */
  readonly entry: string;
  readonly example: string;
  isOwn(entry: unknown): boolean;
  /** The hooks that the entry at `path` declares. */
  read(context: ImportContext, event: string, path: Path): HookDraft[];
  /** Reports an entry of no known form in a file that is said to be this system's; absent: as for any file. */
  reportUnknownForm?(context: ImportContext, event: string, path: Path): void;
}

/** A hook as read from its file, before it becomes a hook or an entry of the config. */
export interface HookDraft {
  readonly dialect: string;
  /** Its own name, which no other hook may have; absent: it is named after its event. */
  readonly name?: string;
  readonly event?: string;
  readonly source: SourceLocation;
  readonly commandPosition: SourceLocation;
  readonly timeoutMs?: number;
  readonly onFailure?: 'deny';
  /** A key that equal hooks of several files share, of which one runs; absent: it is never merged. */
  readonly duplicateKey?: string;
  /** Variables that `env` of the import must name for the hook. */
  readonly neededEnv?: readonly string[];
  /** Its settings, and what its process has beside an empty command, no arguments and the `env` of the import. */
  toHook(context: DraftContext): DraftHook;
  /** The entry of `spec.hooks` for it, with paths relative to `folder`. */
  toEntry(folder: string): Readonly<Record<string, unknown>>;
}

/** What a hook of a file becomes. */
interface DraftHook {
  /** Absent: it starts no process. */
  readonly exec?: Partial<ProcessConfig>;
  readonly settings: unknown;
}

/** The settings of the import of a file, for its hooks. */
export interface DraftContext {
  /** The import in the config. */
  readonly document: YamlDocument;
  readonly path: Path;
  readonly env: readonly string[];
  readonly folder: string;
  /** The folder of the state store, in which plugins may keep files. */
  readonly stateFolder: string;
}

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
