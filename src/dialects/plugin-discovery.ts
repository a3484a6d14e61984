import type { Message, ProcessReply } from '../contract/exchange.ts';
import type { Json } from '../json/json.ts';
import type { SourceLocation } from '../yaml/problem.ts';
import type { DeclaredHook, PluginFolder, ProcessConfig } from './process-config.ts';

/** What plugins are asked with. */
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

/** What plugins say of themselves. */
export interface DiscoveredPlugins<Settings> {
  /** The hooks that take the place of each declared one. */
  readonly declared: ReadonlyMap<DeclaredHook<Settings>, readonly DeclaredHook<Settings>[]>;
  /** The hooks and tools of imported folders, in their order. */
  readonly hooks: readonly DeclaredHook<Settings>[];
  readonly tools: readonly PluginTool[];
}

/** A tool that a plugin offers. */
export interface PluginTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>> | boolean;
  readonly exec: ProcessConfig;
  /** Runs alone, after the other calls of its response. */
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

/** Asks plugins what they are. */
export interface PluginDiscovery<Settings = unknown> {
  /**
   * Asks every plugin what it is, all at once. Throws CONFIG_INVALID if a declared plugin does not say it, and with
   * `on_failure: deny` if one of a folder does not (else it is skipped with a note). Throws ABORTED.
   */
  discover(sources: PluginSources<Settings>, context: PluginContext): Promise<DiscoveredPlugins<Settings>>;
}
