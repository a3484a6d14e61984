import type { Capability } from '../contract/event.ts';
import type { Sandbox } from './binding/sandbox.ts';
import type { VolatileFields } from './cassette/volatile-fields.ts';
import type { ProcessLimits } from './process-config.ts';

/** How a server that exited is restarted; times are milliseconds. */
export interface RestartPolicy {
  /** Pause before the second restart in a row; the first is immediate, each later pause doubles. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The exits without a good reply in between after which the circuit opens. */
  readonly circuitDeaths: number;
  readonly circuitPauseMs: number;
}

/** Where the questions of a native hook are posted to, in place of a process. */
export interface HookEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The absolute path of the certificates that its own must be of; null: those that the system trusts. */
  readonly ca: string | null;
}

/** A fully resolved config entry: every default, path, environment value and limit is final. */
export interface Binding {
  /** The entry's name in the file. */
  readonly name: string;
  readonly capability: Capability;
  readonly dialect: string;
  /** The members of its payloads that differ from run to run, which no recording is found by. */
  readonly volatileFields: VolatileFields;
  readonly mode: 'oneshot' | 'server';
  /** null: there is a process, and `command` starts it. */
  readonly endpoint: HookEndpoint | null;
  /** An absolute path, or a bare name that the closed environment's PATH resolves. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Values of forwarded variables, which no log may show. */
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  /** Between SIGTERM and SIGKILL, and between the end of stdin and SIGTERM. */
  readonly graceMs: number;
  /** How long outputs are still read after the process has exited. */
  readonly drainMs: number;
  readonly maxOutputBytes: number;
  /** What happens to processes that a finished one-shot child leaves in its process group. */
  readonly leftovers: 'kill' | 'keep';
  /** Exchanges of this entry that may run at once; Infinity when only the global limit counts. */
  readonly concurrency: number;
  /** Server processes of this entry. */
  readonly instances: number;
  /** Whether processes start when the runtime opens, rather than on first use. */
  readonly warm: boolean;
  /** One-shot processes that are started ahead of their calls and wait on stdin. */
  readonly spares: number;
  /** Whether one-shot processes are forked from one that has imported what they import, where that can be. */
  readonly isForked: boolean;
  readonly restart: RestartPolicy;
  /** null: none, and nothing is paid for them. */
  readonly limits: ProcessLimits | null;
  /** null: that of this process. */
  readonly nice: number | null;
  /** null: the process runs directly. */
  readonly sandbox: Sandbox | null;
  /** Why no process may ever start for this entry; null when it may. */
  readonly refused: string | null;
}
