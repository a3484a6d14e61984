import type { DialectName } from '../dialects/registry.ts';
import type { ProcessConfig } from '../process/process-config.ts';

export type { DialectName, ForeignName, NativeName } from '../dialects/registry.ts';

/** A process entry as the file declares it: no defaults, nothing resolved. */
export interface ExecConfig extends ProcessConfig {
  readonly dialect: DialectName;
  /** Of a native hook: what is asked in place of a process, whose `command` is then empty. */
  readonly endpoint?: EndpointConfig;
}

/** An HTTP endpoint as the file declares it. */
export interface EndpointConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A file of certificates, relative to the config file's folder. */
  readonly ca?: string;
}
