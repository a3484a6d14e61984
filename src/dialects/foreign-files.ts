import type { Path, YamlDocument } from '../yaml/document.ts';
import type { SourceLocation } from '../yaml/problem.ts';
import type { ImportContext, KeyUses } from './import-context.ts';
import type { DeclaredHook, ProcessConfig } from './process-config.ts';

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

/** How a file is read that is this system's as a whole. */
interface HookDocuments {
  /** Whether a file looks like one of this system. */
  isOwn(document: YamlDocument): boolean;
  /** The hooks of a file in `folder`. */
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
  /** Whether the entry has the form of this system. */
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
export interface DraftHook {
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
  /** The config file's folder, absolute. */
  readonly folder: string;
  /** The folder of the state store, in which plugins may keep files. */
  readonly stateFolder: string;
}
