import type { ForeignHookConfig, HookConfig } from '../config/config.ts';
import type { PipelineRuntime } from '../pipelines/file/validate-names.ts';

/** The entries of a RuntimeConfig that a suite may refer to. */
export interface SuiteRuntime extends PipelineRuntime {
  readonly hooks: readonly Pick<HookConfig, 'name' | 'hook' | 'phases' | 'mode'>[];
  readonly foreign: readonly Pick<ForeignHookConfig, 'name' | 'dialect' | 'settings'>[];
  /** Folders of plugins, whose hooks are only known when the runtime opens. */
  readonly imports: readonly unknown[];
}
