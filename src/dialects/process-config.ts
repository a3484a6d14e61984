import type { SourceLocation } from '../yaml/problem.ts';

/** What the operating system allows a process and all that it starts; an absent member is not limited. */
export interface ProcessLimits {
  readonly memoryMb?: number;
  readonly cpuSeconds?: number;
  readonly openFiles?: number;
  readonly processes?: number;
  readonly fileSizeMb?: number;
}

/** A process as an entry of the config declares it: no defaults, nothing resolved. */
export interface ProcessConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly runtime: 'exec' | 'server' | 'fork';
  /** Names to forward from the host, or `NAME=value` literals. */
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly sandbox?: string;
  readonly limits?: ProcessLimits;
  /** Added to the scheduling priority, 0 to 19; more is more modest. */
  readonly nice?: number;
  readonly cwd?: string;
  readonly concurrency?: number;
  readonly instances?: number;
  /** true: start with the runtime; a number: so many processes wait for their requests. */
  readonly warm?: boolean | number;
  readonly maxOutputBytes?: number;
  readonly graceMs?: number;
  readonly leftovers?: 'kill' | 'keep';
  /** Why this entry must not start: the file asks for something invalid or unsupported. */
  readonly refused?: string;
  /** Where the entry's `command` stands. */
  readonly position: SourceLocation;
}

/** A hook of a foreign dialect, as `spec.hooks` or an imported file declares it. */
export interface DeclaredHook<Settings = unknown> {
  /** The entry's name; of an imported hook the plugin's, the process's, or `<event>-<n>`. */
  readonly name: string;
  /** Its index among all hooks of the file, native ones included; imported ones come last. */
  readonly fileIndex: number;
  /** `command` may be a shell line, which `toProcess` of the dialect turns into `sh -c`. Absent: no process. */
  readonly exec?: ProcessConfig;
  readonly settings: Settings;
  /** deny: a failure of the hook denies; absent: the rules of the foreign system apply. */
  readonly onFailure?: 'deny';
  /** Where the hook is declared: in the foreign file, if it was imported. */
  readonly source: SourceLocation;
}

/** A folder of plugins, each of which describes itself when the runtime opens. */
export interface PluginFolder {
  /** Its index among all hooks and imports, in file order. */
  readonly fileIndex: number;
  /** Absolute. */
  readonly pluginsDir: string;
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly sandbox?: string;
  readonly onFailure?: 'deny';
  readonly position: SourceLocation;
}
