import type { Json } from '../base/json/json.ts';
import { longestMs } from '../base/time/async.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import type { HookEvent } from '../contract/hook.ts';
import type { ToolCall, ToolOutcome } from '../contract/tool.ts';
import type { VolatileFields } from '../process/cassette/volatile-fields.ts';
import type { DeclaredHook, PluginDiscovery, ProcessConfig } from '../process/process-config.ts';
import type { Codec } from './dialect.ts';
import type { ForeignDialect, Point, Trial } from './foreign-dialect.ts';
import type { HookFiles } from './foreign-files.ts';
import type { Inbound, InboundServer } from './inbound.ts';

/**
 * The config's part of a foreign dialect, loaded before its first hook is called. A dialect is a folder with one of
 * these, and a line in the registry.
 */
export interface DialectConfig<Settings = unknown> {
  readonly name: string;
  readonly title: string;
  readonly points: Readonly<Record<string, Point>>;
  /** The points to fire for a pipeline event, in order. */
  pointsAt(event: HookEvent): readonly string[];
  loadHooks(): Promise<ForeignDialect<Settings>>;
  loadTrial(): Promise<Trial<Settings>>;
  loadInbound?(): Promise<Inbound>;
  /** For a system that keeps one process for all events. */
  loadInboundServer?(): Promise<InboundServer>;
  /** The payload members whose values differ from run to run. */
  readonly volatileFields: VolatileFields;

  readonly entry: EntryRules;
  readEntry(document: YamlDocument, path: Path, context: EntryContext): EntryReading<Settings>;
  checkEntry?(input: EntryCheckInput): Finding[];
  /** The points that a hook was declared for. Undefined if only its process knows them. */
  declaredPoints(settings: Settings): readonly string[] | undefined;
  /** The failures that let something pass although the hook could have denied it. Undefined if it can deny nothing. */
  failsOpen(hook: DeclaredHook<Settings>): string | undefined;

  /** The default timeout in milliseconds. */
  timeoutMs(hook: DeclaredHook<Settings>): number;
  /** Caps the timeout at what the system allows the hook beside these other hooks of the dialect. */
  capTimeout?(
    hook: DeclaredHook<Settings>,
    timeoutMs: number,
    all: readonly DeclaredHook<Settings>[],
  ): number;
  toProcess(settings: Settings, exec: ProcessConfig, context: ProcessContext): ProcessForm;
  endpointOf?(settings: Settings): HookEndpoint | undefined;
  /** The folder of a hook without a process. Absent: the config file's folder. */
  folderOf?(settings: Settings): string;
  ownFolderOf?(settings: Settings): OwnFolder | undefined;

  readonly files?: HookFiles<Settings>;
  readonly plugins?: Plugins<Settings>;
  readonly tool?: ToolDialect;
}

/** The keys of an entry of `spec.hooks` as JSON Schema, and the wording of their violations. */
export interface EntryRules {
  readonly block?: object;
  /** The required keys of the entry, and schemas or `false` for keys that the dialect changes or forbids. */
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
  /** Its processes always keep running, whatever `runtime` says. */
  readonly isServer?: boolean;
  /** Endings for the descriptions of keys in `hooks` and `tools`. */
  readonly hookRemarks?: Readonly<Record<string, string>>;
  readonly toolRemarks?: Readonly<Record<string, string>>;
  readonly misplacedHints: Readonly<Record<string, string>>;
  readonly runtimeHint: string;
  /** The message for a forbidden value, by the path below the entry with `*` for any key. */
  readonly valueMessages?: Readonly<Record<string, (value: string) => string | undefined>>;
  /** `command` may be a shell line, which `checkEntry` checks in place of the config. */
  readonly checksCommand?: boolean;
  /** The key, below the entry, of the process's working directory, an alternative to `cwd`. */
  readonly folderKey?: Path;
  readonly importProperties?: Readonly<Record<string, object>>;
}

export interface EntryContext {
  readonly exec: ProcessConfig;
  readonly folder: string;
  readonly stateFolder: string;
  readonly defaults: { readonly timeoutMs?: number; readonly onFailure?: 'deny' };
}

export interface EntryReading<Settings> {
  readonly exec?: ProcessConfig;
  readonly settings: Settings;
}

export interface EntryCheckInput {
  readonly document: YamlDocument;
  readonly path: Path;
  readonly folder: string;
  /** A PATH. Empty: unknown. */
  readonly searchPath: string;
}

export interface ProcessContext {
  readonly folder: string;
  readonly isVerbose: boolean;
  readonly variablesFor: (env: readonly string[]) => Readonly<Record<string, string>>;
}

export interface ProcessForm {
  readonly exec: ProcessConfig;
  /** Set in addition to `env`; these win. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface HookEndpoint {
  readonly url: string;
  /** Names to take from the host, or `NAME=value` literals. */
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  headers(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

interface OwnFolder {
  readonly variable: string;
  readonly path: string;
}

interface Plugins<Settings = unknown> {
  readonly folderKey: string;
  readonly failsOpen: string;
  load(): Promise<PluginDiscovery<Settings>>;
}

interface ToolDialect {
  readonly codec: Codec<ToolCall, ToolOutcome>;
  /** The ending of the description of `dialect`. */
  readonly remark: string;
  readonly serverFault: string;
  toProcess(exec: ProcessConfig, context: ProcessContext): ProcessForm;
  /**
   * Returns whether the arguments have a form that the tool's schema does not describe. Such arguments pass unchecked.
   */
  isDirect(args: Json, inputSchema: unknown): boolean;
}

/** Top-level payload members of several systems whose values differ from run to run. */
export const sharedVolatileFields: VolatileFields = {
  session_id: 'drop run ids',
  prompt_id: 'drop',
  transcript_path: 'drop',
  agent_transcript_path: 'drop',
  cwd: 'drop',
  tool_use_id: 'drop',
  duration_ms: 'drop',
  turn_id: 'drop run ids',
  tool_calls: { each: { tool_use_id: 'drop' } },
};

/** Native keys that are forbidden because the dialect's settings say when a hook runs. */
export const withoutNativeKeys = {
  hook: false,
  phases: false,
  mode: false,
  modifies: false,
  runtime: { const: 'exec' },
} as const;

export const modifiesHint = 'The rules of its system say which of its hooks run at the same time.';

/** A number of milliseconds that a timer can wait, as JSON Schema. */
export const milliseconds = { type: 'integer', minimum: 1, maximum: longestMs } as const;
