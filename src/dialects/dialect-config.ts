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
 * What the rest needs to know of a foreign dialect before its first hook is called: the config's part. A dialect is a
 * folder with one of these, and a line in the registry.
 */
export interface DialectConfig<Settings = unknown> {
  readonly name: string;
  readonly title: string;
  readonly points: Readonly<Record<string, Point>>;
  /** The points to fire for an event of a pipeline, in order. */
  pointsAt(event: HookEvent): readonly string[];
  /** Imports the part that hooks are called with, on first use. */
  loadHooks(): Promise<ForeignDialect<Settings>>;
  /** Imports what its hooks are tried with, on first use. */
  loadTrial(): Promise<Trial<Settings>>;
  /** Imports the side on which its system asks Signalbox, where it does, on first use. */
  loadInbound?(): Promise<Inbound>;
  /** The same where it keeps one process for all its events. */
  loadInboundServer?(): Promise<InboundServer>;
  /** The members of its payloads whose values differ from run to run. */
  readonly volatileFields: VolatileFields;

  readonly entry: EntryRules;
  readEntry(document: YamlDocument, path: Path, context: EntryContext): EntryReading<Settings>;
  checkEntry?(input: EntryCheckInput): Finding[];
  /** The points that a hook was declared for; undefined while only its process knows them. */
  declaredPoints(settings: Settings): readonly string[] | undefined;
  /** The failures with which the hook passes what it could have denied; undefined where it can deny nothing. */
  failsOpen(hook: DeclaredHook<Settings>): string | undefined;

  /** The timeout in milliseconds of a hook that names none. */
  timeoutMs(hook: DeclaredHook<Settings>): number;
  /** The timeout, at most what the system allows the hook beside these other hooks of the dialect. */
  capTimeout?(
    hook: DeclaredHook<Settings>,
    timeoutMs: number,
    all: readonly DeclaredHook<Settings>[],
  ): number;
  /** The process that is started for the hook, and the environment variables that its system sets. */
  toProcess(settings: Settings, exec: ProcessConfig, context: ProcessContext): ProcessForm;
  endpointOf?(settings: Settings): HookEndpoint | undefined;
  /** The folder that a hook without a process belongs to; absent: that of the config file. */
  folderOf?(settings: Settings): string;
  ownFolderOf?(settings: Settings): OwnFolder | undefined;

  /** The files of the system that `spec.imports` may name. */
  readonly files?: HookFiles<Settings>;
  /** Folders of plugins that `spec.imports` may name. */
  readonly plugins?: Plugins<Settings>;
  /** How tools are run, where the dialect has any. */
  readonly tool?: ToolDialect;
}

/** The keys of an entry of `spec.hooks` as JSON Schema, and how their violations are worded. */
export interface EntryRules {
  /** The mapping under the dialect's own key; absent: there is no such key. */
  readonly block?: object;
  /** The required keys of the entry, and schemas or `false` for keys that the dialect changes or forbids. */
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
  /** Whether its processes always stay, whatever `runtime` says. */
  readonly isServer?: boolean;
  /** Remarks that end the descriptions of keys, in `hooks` and in `tools`. */
  readonly hookRemarks?: Readonly<Record<string, string>>;
  readonly toolRemarks?: Readonly<Record<string, string>>;
  readonly misplacedHints: Readonly<Record<string, string>>;
  readonly runtimeHint: string;
  /** The message for a value that is not allowed, by the path below the entry with `*` for any key. */
  readonly valueMessages?: Readonly<Record<string, (value: string) => string | undefined>>;
  /** Whether `command` may be a shell line, which `checkEntry` checks in place of the config. */
  readonly checksCommand?: boolean;
  /** The key, below the entry, of the folder in which the process starts, beside `cwd`. */
  readonly folderKey?: Path;
  /** Keys of an entry of `spec.imports` that only this dialect has, as JSON Schema. */
  readonly importProperties?: Readonly<Record<string, object>>;
}

/** What the reader of an entry is given beside the document. */
export interface EntryContext {
  readonly exec: ProcessConfig;
  readonly folder: string;
  /** The folder of the state store, in which plugins may keep files. */
  readonly stateFolder: string;
  readonly defaults: { readonly timeoutMs?: number; readonly onFailure?: 'deny' };
}

/** What an entry declares. */
export interface EntryReading<Settings> {
  /** Absent: the hook starts no process. */
  readonly exec?: ProcessConfig;
  readonly settings: Settings;
}

/** What the check of one entry is given. */
export interface EntryCheckInput {
  readonly document: YamlDocument;
  readonly path: Path;
  readonly folder: string;
  /** A PATH; empty: unknown. */
  readonly searchPath: string;
}

/** What a process is resolved with. */
export interface ProcessContext {
  readonly folder: string;
  readonly isVerbose: boolean;
  /** The environment variables that entries of `env` give a process. */
  readonly variablesFor: (env: readonly string[]) => Readonly<Record<string, string>>;
}

/** A process in its final form. */
export interface ProcessForm {
  readonly exec: ProcessConfig;
  /** Set in addition to `env`; these win. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** An HTTP endpoint to which payloads are posted. */
export interface HookEndpoint {
  readonly url: string;
  /** Names to take from the host, or `NAME=value` literals. */
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  /** The headers, filled from the variables that `env` gives. */
  headers(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/** A folder of a hook's own, and the environment variable that names it. */
interface OwnFolder {
  readonly variable: string;
  /** Absolute. */
  readonly path: string;
}

/** Plugins that describe themselves when the runtime opens. */
interface Plugins<Settings = unknown> {
  /** The key of `spec.imports` that names a folder of them. */
  readonly folderKey: string;
  /** The failures with which a plugin passes what it could have denied. */
  readonly failsOpen: string;
  /** Imports what asks plugins what they are, on first use. */
  load(): Promise<PluginDiscovery<Settings>>;
}

interface ToolDialect {
  readonly codec: Codec<ToolCall, ToolOutcome>;
  /** What ends the description of `dialect`. */
  readonly remark: string;
  /** Why a tool cannot be a server. */
  readonly serverFault: string;
  /** The process that is started for a call, and the environment variables that its system sets. */
  toProcess(exec: ProcessConfig, context: ProcessContext): ProcessForm;
  /** Whether the arguments are in a form that the tool's schema does not describe, and are passed unchecked. */
  isDirect(args: Json, inputSchema: unknown): boolean;
}

/** What differs from run to run at the top level of the payloads that more than one system sends. */
export const sharedVolatileFields: VolatileFields = {
  session_id: 'drop run ids',
  prompt_id: 'drop',
  transcript_path: 'drop',
  agent_transcript_path: 'drop',
  // Where the project lies on this machine.
  cwd: 'drop',
  tool_use_id: 'drop',
  duration_ms: 'drop',
  turn_id: 'drop run ids',
  tool_calls: { each: { tool_use_id: 'drop' } },
};

/** The native keys that have no place where the settings of the dialect say when a hook runs. */
export const withoutNativeKeys = {
  hook: false,
  phases: false,
  mode: false,
  modifies: false,
  runtime: { const: 'exec' },
} as const;

/** Where a hook of another system is declared `modifies`. */
export const modifiesHint = 'The rules of its system say which of its hooks are asked together.';

/** A number of milliseconds that a timer can wait, as JSON Schema. */
export const milliseconds = { type: 'integer', minimum: 1, maximum: longestMs } as const;
