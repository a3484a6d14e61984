import type { ForeignHookConfig, HookConfig } from '../config/config.ts';
import type { PipelineRuntime } from '../pipelines/file/validate-names.ts';

export interface SuiteRuntime extends PipelineRuntime {
  readonly privateHosts: readonly string[];
  readonly hooks: readonly Pick<HookConfig, 'name' | 'hook' | 'phases' | 'mode'>[];
  readonly foreign: readonly Pick<ForeignHookConfig, 'name' | 'dialect' | 'settings'>[];
  /** Plugin folders. Their hooks are known only when the runtime opens. */
  readonly imports: readonly unknown[];
}
