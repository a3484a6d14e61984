import type { Fields } from '../base/yaml/fields.ts';
import type { ForeignName } from '../dialects/registry.ts';
import type { DeclaredHook, PluginFolder } from '../process/process-config.ts';
import type { NamedApprovalRule } from './approval.ts';
import type { EvalConfig, ExecConfig } from './exec.ts';
import type { GatewayConfig } from './gateway.ts';
import type { HookConfig } from './hook.ts';
import type { McpServerConfig } from './mcp-servers.ts';
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
export type * from './mcp.ts';
export type * from './mcp-servers.ts';
export type * from './notify.ts';
export type * from './provider.ts';
export type * from './sandbox.ts';
export type * from './store.ts';
export type { TelemetryConfig } from './telemetry.ts';
export type * from './tool.ts';

export interface LoggingConfig {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Absent: text on a terminal, else the preference of the runtime's caller. */
  readonly format?: 'text' | 'json';
  /** Added to every log line. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface ConfigEnvironment {
  /** The variables of `spec.env_file`; those of the process take precedence. */
  readonly variables: Readonly<Record<string, string>>;
  readonly file?: string;
  /** Filled-in values that must not be shown. */
  readonly secrets: readonly string[];
}

/** A checked RuntimeConfig file. */
export interface RuntimeConfig extends Omit<Fields<typeof settingKeys>, 'logging'> {
  readonly file: string;
  /** The file's folder, the base of relative commands and `cwd`. */
  readonly folder: string;
  readonly apiVersion: 'signalbox/v1' | 'promptkit.altairalabs.ai/v1alpha1';
  readonly name: string;
  readonly providers: readonly ProviderConfig[];
  readonly tools: readonly ToolConfig[];
  readonly evals: readonly EvalConfig[];
  readonly hooks: readonly HookConfig[];
  /** Foreign hooks in execution order: those of the file, then imported ones. */
  readonly foreign: readonly ForeignHookConfig[];
  /** Plugin folders, whose plugins describe themselves when the runtime opens. */
  readonly imports: readonly ImportConfig[];
  readonly sandboxes: readonly SandboxConfig[];
  readonly approvals?: readonly NamedApprovalRule[];
  readonly notify?: readonly NotifyConfig[];
  readonly mcpServers?: readonly McpServerConfig[];
  readonly stateStore: StateStoreConfig;
  readonly gateway: GatewayConfig;
  readonly logging: LoggingConfig;
  /** Absent if the file uses nothing of the environment. */
  readonly environment?: ConfigEnvironment;
  readonly overlays?: readonly string[];
}

export interface ForeignHookConfig extends DeclaredHook {
  readonly dialect: ForeignName;
  readonly exec?: ExecConfig;
}

/** A folder of plugins, which describe themselves when the runtime opens. */
export interface ImportConfig extends PluginFolder {
  readonly dialect: ForeignName;
}
