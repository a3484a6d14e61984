import type { Json } from '../base/json/json.ts';
import type { SourceLocation } from '../base/yaml/problem.ts';
import type { Message, ProcessReply } from '../contract/exchange.ts';

/** Operating system limits for a process and its descendants. An absent member is not limited. */
export interface ProcessLimits {
  readonly memoryMb?: number;
  readonly cpuSeconds?: number;
  readonly openFiles?: number;
  readonly processes?: number;
  readonly fileSizeMb?: number;
}

export interface ProcessConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly runtime: 'exec' | 'server' | 'fork';
  /** Names of host variables, or `NAME=value` literals. */
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly sandbox?: string;
  readonly limits?: ProcessLimits;
  /** Niceness, 0 to 19; a higher value means a lower priority. */
  readonly nice?: number;
  readonly cwd?: string;
  readonly concurrency?: number;
  readonly instances?: number;
  /** true: start with the runtime; a number: how many processes wait for requests. */
  readonly warm?: boolean | number;
  readonly maxOutputBytes?: number;
  readonly graceMs?: number;
  readonly leftovers?: 'kill' | 'keep';
  /** Why this entry must not start: its config is invalid or unsupported. */
  readonly refused?: string;
  readonly position: SourceLocation;
}

export interface DeclaredHook<Settings = unknown> {
  /** For an imported hook: the name of the plugin or process, or `<event>-<n>`. */
  readonly name: string;
  /** The index among all hooks of the file, including native ones; imported hooks come last. */
  readonly fileIndex: number;
  /** `command` may be a shell line, which the dialect's `toProcess` runs with `sh -c`. Absent: no process. */
  readonly exec?: ProcessConfig;
  readonly settings: Settings;
  /** deny: a failure of the hook denies; absent: the foreign system's rules apply. */
  readonly onFailure?: 'deny';
  readonly source: SourceLocation;
}

export interface PluginFolder {
  /** The index among all hooks and imports, in file order. */
  readonly fileIndex: number;
  readonly pluginsDir: string;
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly sandbox?: string;
  readonly onFailure?: 'deny';
  readonly position: SourceLocation;
}

export function envLiteralOf(env: readonly string[], name: string): string | undefined {
  return env.findLast((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Returns a message for header variables that `env` does not name; an empty list if it names all. */
export function findUnfilledVariables(allowed: readonly string[], env: readonly string[]): string[] {
  const named = new Set(env.map((entry) => entry.split('=', 1)[0]));
  const missing = allowed.filter((name) => !named.has(name));
  if (missing.length === 0) return [];
  const verb = missing.length === 1 ? 'stays' : 'stay';
  return [`${missing.join(', ')} ${verb} empty: \`env\` must name the variables that headers use`];
}

export interface PluginContext {
  readonly folder: string;
  /** Starts a plugin once and passes its reply to `read`. Errors contain no secrets of the reply. */
  readonly ask: <Value>(
    entry: { readonly name: string; readonly exec: ProcessConfig },
    message: Message,
    read: (reply: ProcessReply) => Value,
  ) => Promise<Value>;
  readonly addNote: (name: string, message: string, level?: 'debug' | 'warn') => void;
}

export interface PluginSources<Settings> {
  readonly hooks: readonly DeclaredHook<Settings>[];
  readonly folders: readonly PluginFolder[];
}

export interface DiscoveredPlugins<Settings> {
  readonly declared: ReadonlyMap<DeclaredHook<Settings>, readonly DeclaredHook<Settings>[]>;
  readonly hooks: readonly DeclaredHook<Settings>[];
  readonly tools: readonly PluginTool[];
}

export interface PluginTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>> | boolean;
  readonly exec: ProcessConfig;
  readonly isExclusive?: boolean;
  readonly flow?: FlowControl;
  readonly position: SourceLocation;
}

/** A tool that only controls the loop. `endsTurn`: whether its call ends the turn; `answer`: its result. */
export interface FlowControl {
  readonly endsTurn: boolean;
  answer(args: Json): string;
}

export interface PluginDiscovery<Settings = unknown> {
  /**
   * Describes all plugins in parallel. Throws CONFIG_INVALID if a declared plugin fails, or with `on_failure: deny` one
   * of a folder; others are skipped with a note. Throws ABORTED.
   */
  discover(sources: PluginSources<Settings>, context: PluginContext): Promise<DiscoveredPlugins<Settings>>;
}
