import type { Fields } from '../base/yaml/fields.ts';
import type { ForeignName } from '../dialects/registry.ts';
import type { DeclaredHook, PluginFolder } from '../process/process-config.ts';
import type { NamedApprovalRule } from './approval.ts';
import type { EvalConfig, ExecConfig } from './exec.ts';
import type { GatewayConfig } from './gateway.ts';
import type { HookConfig } from './hook.ts';
import type { NotifyConfig } from './notify.ts';
import type { ProviderConfig } from './provider.ts';
import type { SandboxConfig } from './sandbox.ts';
import type { settingKeys } from './schema.ts';
import type { StateStoreConfig } from './store.ts';
import type { ToolConfig } from './tool.ts';

export type * from './approval.ts';
export type * from './exec.ts';
export type * from './gateway.ts';
export type * from './hook.ts';
export type * from './notify.ts';
export type * from './provider.ts';
export type * from './sandbox.ts';
export type * from './store.ts';
export type * from './tool.ts';

export interface LoggingConfig {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Absent: text on a terminal; elsewhere as the opener of the runtime prefers. */
  readonly format?: 'text' | 'json';
  /** Members added to every log line. */
  readonly fields: Readonly<Record<string, string>>;
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
export interface RuntimeConfig extends Omit<Fields<typeof settingKeys>, 'logging'> {
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
  /** In the order of the file; absent: none. */
  readonly approvals?: readonly NamedApprovalRule[];
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

/** A hook of a foreign dialect, which alone knows what its settings are. */
export interface ForeignHookConfig extends DeclaredHook {
  readonly dialect: ForeignName;
  readonly exec?: ExecConfig;
}

/** A folder of plugins, each of which describes itself when the runtime opens. */
export interface ImportConfig extends PluginFolder {
  readonly dialect: ForeignName;
}
