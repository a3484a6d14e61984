import type { ForeignName } from '../dialects/registry.ts';
import type { DeclaredHook, PluginFolder } from '../process/process-config.ts';
import type { ExecConfig } from './exec.ts';

/** A hook of a foreign dialect, which alone knows what its settings are. */
export interface ForeignHookConfig extends DeclaredHook {
  readonly dialect: ForeignName;
  readonly exec?: ExecConfig;
}

/** A folder of plugins, each of which describes itself when the runtime opens. */
export interface ImportConfig extends PluginFolder {
  readonly dialect: ForeignName;
}
