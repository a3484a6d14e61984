import type { Position } from '../yaml/problem.ts';
import type { ExecConfig } from './entry.ts';

interface ForeignBase {
  /** The entry's name; of an imported hook the plugin's, the process's, or `<event>-<n>`. */
  readonly name: string;
  /** Its index among all hooks of the file, native ones included; imported ones come last. */
  readonly fileIndex: number;
  /** deny: a failure of the hook denies; absent: the rules of the foreign system apply. */
  readonly onFailure?: 'deny';
  /** Where the hook is declared: in the foreign file, if it was imported. */
  readonly source: Position;
}

/** A hook that is a process. `exec.command` may be a shell line, which `resolve` turns into `sh -c`. */
export interface PicoclawHookConfig extends ForeignBase {
  readonly dialect: 'picoclaw';
  readonly exec: ExecConfig;
  readonly settings: PicoclawSettings;
}

export interface ChibiHookConfig extends ForeignBase {
  readonly dialect: 'chibi';
  readonly exec: ExecConfig;
  readonly settings: ChibiSettings;
}

export interface ClaudeHookConfig extends ForeignBase {
  readonly dialect: 'claude';
  /** Absent for an http handler. */
  readonly exec?: ExecConfig;
  readonly settings: ClaudeSettings;
}

export interface AgentaoHookConfig extends ForeignBase {
  readonly dialect: 'agentao';
  /** Absent for a prompt rule. */
  readonly exec?: ExecConfig;
  readonly settings: AgentaoSettings;
}

export type ForeignHookConfig = PicoclawHookConfig | ChibiHookConfig | ClaudeHookConfig | AgentaoHookConfig;

export const picoclawMethods = [
  'before_llm',
  'after_llm',
  'before_tool',
  'after_tool',
  'approve_tool',
] as const;
export type PicoclawMethod = (typeof picoclawMethods)[number];

/** A PicoClaw process. Times are milliseconds. Source: hook-json-protocol.md. */
export interface PicoclawSettings {
  /** Which protocol applies where the published page and the code of the head differ. */
  readonly version: '0.2.8-doc' | 'head';
  /** What legacy events have in `Kind`: the number of the release, or the name of the page. */
  readonly eventKind: 'number' | 'name';
  readonly intercept: readonly PicoclawMethod[];
  /** Kinds of events, as the file has them; `*`, `all` or `` anywhere is every kind. */
  readonly observe: readonly string[];
  /** Accept a hello whose `ok` is not true. */
  readonly isLenient: boolean;
  readonly helloTimeoutMs: number;
  readonly interceptorTimeoutMs: number;
  readonly approvalTimeoutMs: number;
  readonly observerTimeoutMs: number;
}

/** A chibi plugin. Its points come from its own `--schema`, when the runtime opens. */
export interface ChibiSettings {
  /** Element of the plugin's schema that this hook is; '' before the schema is known. */
  readonly tool: string;
  readonly points: readonly string[];
  readonly chibiHome: string;
  readonly projectRoot: string;
}

/** A Claude Code handler. */
export interface ClaudeSettings {
  readonly event: string;
  readonly matcher?: string;
  /** A permission rule, as in `Bash(git *)`. */
  readonly condition?: string;
  /** In the background: only context counts, later. */
  readonly isAsync: boolean;
  /** Whose line `exec.command` is; absent in the exec form and for an http handler. */
  readonly shell?: 'sh' | 'bash' | 'powershell';
  readonly http?: ClaudeHttp;
  /** Forced continuations in a row after which a Stop hook is overridden. */
  readonly stopCap: number;
  readonly projectDir: string;
  readonly pluginRoot?: string;
  readonly pluginData?: string;
}

/** An http handler: a POST of the payload. */
export interface ClaudeHttp {
  readonly url: string;
  /** As the file has them; `$VAR` and `${VAR}` stand for those of `allowedEnvVars`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
  /** Names to take from the host, or `NAME=value` literals: the only source of header variables. */
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
}

/** An Agentao rule. */
export interface AgentaoSettings {
  readonly event: string;
  /** As the file has it; absent matches everything. */
  readonly matcher?: Readonly<Record<string, unknown>>;
  /** The static text of a prompt rule. */
  readonly prompt?: string;
  /** The command line as the file has it, which records name the rule by; absent for a prompt rule. */
  readonly command?: string;
  readonly stopReentryCap: number;
  readonly projectDir: string;
}

/** A folder of chibi plugins, each of which describes itself with `--schema`. */
export interface ImportConfig {
  readonly dialect: 'chibi';
  /** Its index among all hooks and imports, in file order. */
  readonly fileIndex: number;
  /** Absolute. */
  readonly pluginsDir: string;
  readonly env: readonly string[];
  readonly timeoutMs?: number;
  readonly onFailure?: 'deny';
  readonly position: Position;
}
