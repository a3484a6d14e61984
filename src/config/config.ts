import type { SourceLocation } from '../base/yaml/problem.ts';
import type { HookKind, HookMode, Phase } from '../contract/hook.ts';
import type { FlowControl, ProcessLimits } from '../process/process-config.ts';
import type { ExecConfig } from './entry.ts';
import type { ForeignHookConfig, ImportConfig } from './foreign.ts';
import type { GatewayConfig } from './gateway.ts';
import type { SandboxConfig } from './sandbox.ts';

export type * from './entry.ts';
export type * from './foreign.ts';
export type * from './gateway.ts';
export type * from './sandbox.ts';

/** When a tool call needs the approval of a person. */
export interface ApprovalRule {
  /** A CEL expression over `args`, a whole `${…}`; absent: every call. A failed evaluation needs approval. */
  readonly when?: string;
  /** The message for the person; may contain `${…}` over `args`. */
  readonly message?: string;
  /** Who may decide, by name; absent: whoever has a name. Never empty. */
  readonly by?: readonly string[];
  /** How many of them must approve; absent: one. */
  readonly quorum?: number;
  /** How long a decision may take, from the moment that the call is pending; absent: for ever. */
  readonly expiresMs?: number;
}

/** The same for all tools whose names fit a pattern, whoever runs them. */
export interface NamedApprovalRule extends ApprovalRule {
  readonly name: string;
  /** `*` stands for any characters, `?` for one. Never empty. */
  readonly tools: readonly string[];
}

/** What becomes of calls of agents that have Signalbox for a hook, while they wait for a person. */
export interface AgentsConfig {
  readonly pending: 'hold' | 'refuse';
  readonly holdMs: number;
}

/** Somebody who is told what happens to runs: a program, or an address. */
export interface NotifyConfig {
  readonly name: string;
  /** pending, decided, failed, completed. */
  readonly on: readonly string[];
  readonly exec: ExecConfig | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
}

/** A tool; without `exec` it is listed, and a call of it fails. Schemas are JSON Schema objects. */
export interface ToolConfig {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: Readonly<Record<string, unknown>> | boolean;
  readonly outputSchema?: Readonly<Record<string, unknown>> | boolean;
  readonly exec?: ExecConfig;
  readonly approval?: ApprovalRule;
  /**
   * Whether a call that was interrupted may be made again. true: yes, and the tool is given an
   * `idempotency_key`; false: never without a person; absent: yes.
   */
  readonly idempotent?: boolean;
  /** The kind of work: fs_read, fs_write, shell, network, …; it selects permission hooks. */
  readonly category?: string;
  /** Runs alone, after the other calls of its response. */
  readonly isExclusive?: boolean;
  /** Of a flow-control tool, which starts no process. */
  readonly flow?: FlowControl;
  /** Names that other systems have for the tool. */
  readonly aliases?: readonly string[];
  readonly position: SourceLocation;
}

/** A model behind an API, as PromptKit declares it: absent keys are absent, nothing is resolved. */
export interface ProviderConfig {
  readonly id: string;
  /** The kind of API, such as openai, gemini, mock or replay; see provider-types.ts. */
  readonly type: string;
  /** Undefined: it answers. */
  readonly role?: 'embedding';
  /** Of the type tool, the tool's name. */
  readonly model: string;
  readonly baseUrl?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: {
    readonly apiKey?: string;
    /** Relative to the config file's folder. */
    readonly file?: string;
    /** The name of an environment variable. */
    readonly env?: string;
  };
  readonly defaults: {
    readonly temperature?: number;
    readonly topP?: number;
    readonly maxTokens?: number;
  };
  /** US dollars per 1,000 tokens. */
  readonly pricing?: { readonly input: number; readonly output: number };
  readonly requestTimeoutMs?: number;
  readonly rateLimit?: RateLimit;
  readonly streams?: StreamLimitsConfig;
  /** The providers that are asked one after another where this one fails; undefined: none. */
  readonly fallback?: readonly string[];
  /** What its API does with a JSON Schema for the answer: keeps to it, or knows only that JSON is wanted, or nothing. */
  readonly structuredOutput?: 'schema' | 'json' | 'none';
  /** Whether streamed chats may be asked for their usage; absent: they may. */
  readonly streamUsage?: boolean;
  /** Settings of one kind of provider, as the file has them. */
  readonly additionalConfig: Readonly<Record<string, unknown>>;
  /** Why this provider must not be used: the file asks for something unsupported. */
  readonly refused?: string;
  readonly position: SourceLocation;
}

/** How a provider's streams are called, as PromptKit has it. */
export interface StreamLimitsConfig {
  /** Longest silence of a stream that has begun; absent: the request timeout, at the gateway its `idle_ms`. */
  readonly idleMs?: number;
  /** Streams that are open at once; absent: any number. */
  readonly maxConcurrent?: number;
  /** Retries before the first part of an answer; absent: as of other calls. */
  readonly retry?: {
    readonly retries: number;
    readonly initialDelayMs: number;
    readonly maxDelayMs: number;
    /** How many retries all streams together may make; absent: any number. */
    readonly budget?: { readonly ratePerSecond: number; readonly burst: number };
  };
}

/** What a provider may be asked for; absent: as much as is wanted. */
export interface RateLimit {
  readonly requestsPerMinute?: number;
  /** Requests that may begin at once after a pause; absent: ten seconds' worth. */
  readonly burst?: number;
  /** Of requests and answers together. */
  readonly tokensPerMinute?: number;
}

/** Where approvals and runs are kept. */
export type StateStoreConfig =
  | { readonly type: 'memory' }
  /** Absolute path of the database. */
  | { readonly type: 'sqlite'; readonly file: string }
  /** A Postgres database, whose address an environment variable has; `folder` is for what is this machine's own. */
  | {
      readonly type: 'postgres';
      readonly urlEnv: string;
      readonly folder: string;
    }
  /** A declared store that is not supported: whatever needs the store fails with this reason. */
  | { readonly type: 'refused'; readonly reason: string };

export interface EvalConfig {
  readonly name: string;
  readonly exec: ExecConfig;
  /** Cases that a suite sends in one request at most; absent: each in a request of its own. */
  readonly batch?: number;
}

export interface HookConfig {
  readonly name: string;
  /** Its index among all hooks of the file, foreign ones included; from 0. */
  readonly fileIndex: number;
  readonly exec: ExecConfig;
  readonly hook: HookKind;
  /** Never empty: an entry without `phases` has every phase of its kind. */
  readonly phases: readonly Phase[];
  readonly mode: HookMode;
  /** It declares that it never replaces a part of an event; absent: it may. */
  readonly modifies?: false;
  /** Absent: it hears of every event of its phases. */
  readonly match?: HookMatch;
  /** `external`: `match` names only tools or providers that others bring; `none`: only ones that cannot be. Absent: declared ones. */
  readonly reach?: 'external' | 'none';
}

/** Which events of its phases a hook hears of: all that is said must hold. Names may have `*` and `?`. */
export interface HookMatch {
  readonly tools?: readonly string[];
  /** Ids of providers. */
  readonly providers?: readonly string[];
  readonly models?: readonly string[];
  /** A CEL expression over `event`, a whole `${…}`; a failed evaluation counts as true. */
  readonly when?: string;
}

export interface LoggingConfig {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Absent: text on a terminal; elsewhere as the opener of the runtime prefers. */
  readonly format?: 'text' | 'json';
  /** Members added to every log line. */
  readonly fields: Readonly<Record<string, string>>;
}

/** `spec.defaults`: the defaults of every entry. */
export interface DefaultsConfig {
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly graceMs?: number;
  readonly leftovers?: 'kill' | 'keep';
  /** An entry's own members win one by one. */
  readonly limits?: ProcessLimits;
  readonly nice?: number;
  readonly onFailure?: 'deny';
}

/** What a config has of the environment, beside what its entries name. */
export interface ConfigEnvironment {
  /** The variables of `spec.env_file`; those of the process win. */
  readonly variables: Readonly<Record<string, string>>;
  /** The absolute path of that file. */
  readonly file?: string;
  /** What was filled into values, and nobody may be shown. */
  readonly secrets: readonly string[];
}

/** One RuntimeConfig file, read and checked. */
export interface RuntimeConfig {
  readonly file: string;
  /** The file's folder: relative commands and `cwd` start here. */
  readonly folder: string;
  readonly apiVersion: 'signalbox/v1' | 'promptkit.altairalabs.ai/v1alpha1';
  readonly name: string;
  /** By their id, which is unique. */
  readonly providers: readonly ProviderConfig[];
  readonly tools: readonly ToolConfig[];
  readonly evals: readonly EvalConfig[];
  /** In the order of the file. */
  readonly hooks: readonly HookConfig[];
  /** Hooks of foreign dialects, in the order in which they run: those of the file, then imported ones. */
  readonly foreign: readonly ForeignHookConfig[];
  /** Imports that are only known when the runtime opens: folders of plugins, which describe themselves. */
  readonly imports: readonly ImportConfig[];
  readonly sandboxes: readonly SandboxConfig[];
  /** Exchanges that may run at once, over all entries. */
  readonly concurrency?: number;
  /** MiB that all requests to processes and their outputs may have together. */
  readonly inFlightMb?: number;
  readonly defaults: DefaultsConfig;
  /** In the order of the file; absent: none. */
  readonly approvals?: readonly NamedApprovalRule[];
  /** Absent: a call that waits is refused. */
  readonly agents?: AgentsConfig;
  /** Absent: nobody. */
  readonly notify?: readonly NotifyConfig[];
  readonly stateStore: StateStoreConfig;
  readonly gateway: GatewayConfig;
  readonly logging: LoggingConfig;
  /** Absent: the file uses nothing of the environment by itself. */
  readonly environment?: ConfigEnvironment;
  /** The files that were laid over it, in this order; absent: none. */
  readonly overlays?: readonly string[];
}
