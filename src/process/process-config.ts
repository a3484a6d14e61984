import type { Json } from '../base/json/json.ts';
import type { SourceLocation } from '../base/yaml/problem.ts';
import type { Message, ProcessReply } from '../contract/exchange.ts';

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
  readonly source: SourceLocation;
}

/** A folder of plugins, each of which describes itself when the runtime opens. */
export interface PluginFolder {
  /** Its index among all hooks and imports, in file order. */
  readonly fileIndex: number;
  readonly pluginsDir: string;
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly sandbox?: string;
  readonly onFailure?: 'deny';
  readonly position: SourceLocation;
}

/** The value that `env` entries set for a name by `NAME=value`; the last one counts. */
export function envLiteralOf(env: readonly string[], name: string): string | undefined {
  return env.findLast((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** A message for header variables that `env` does not name and that stay empty; none when all are named. */
export function findUnfilledVariables(allowed: readonly string[], env: readonly string[]): string[] {
  const named = new Set(env.map((entry) => entry.split('=', 1)[0]));
  const missing = allowed.filter((name) => !named.has(name));
  if (missing.length === 0) return [];
  const verb = missing.length === 1 ? 'stays' : 'stay';
  return [`${missing.join(', ')} ${verb} empty: \`env\` must name what headers use`];
}

export interface PluginContext {
  /** The config file's folder, absolute. */
  readonly folder: string;
  /**
   * Starts a plugin once with a message and passes its reply to `read`. Rejects with the RuntimeError of the process,
   * and with that of `read`, without the secrets of the reply.
   */
  readonly ask: <Value>(
    entry: { readonly name: string; readonly exec: ProcessConfig },
    message: Message,
    read: (reply: ProcessReply) => Value,
  ) => Promise<Value>;
  readonly addNote: (name: string, message: string, level?: 'debug' | 'warn') => void;
}

/** The hooks of a config that are plugins, and the folders of plugins that it imports. */
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
  /** Of a flow-control tool, which starts no process. */
  readonly flow?: FlowControl;
  readonly position: SourceLocation;
}

/** A tool that only steers the loop: `endsTurn` tells whether its call ends the turn, `answer` gives its result. */
export interface FlowControl {
  readonly endsTurn: boolean;
  answer(args: Json): string;
}

export interface PluginDiscovery<Settings = unknown> {
  /**
   * Asks every plugin what it is, all at once. Throws CONFIG_INVALID if a declared plugin does not say it, and with
   * `on_failure: deny` if one of a folder does not (else it is skipped with a note). Throws ABORTED.
   */
  discover(sources: PluginSources<Settings>, context: PluginContext): Promise<DiscoveredPlugins<Settings>>;
}
