import type { ProcessConfig } from '../dialects/process-config.ts';
import type { DialectName } from '../dialects/registry.ts';

export type { DialectName, ForeignName, NativeName } from '../dialects/registry.ts';

/** A process entry as the file declares it: no defaults, nothing resolved. */
export interface ExecConfig extends ProcessConfig {
  readonly dialect: DialectName;
}
