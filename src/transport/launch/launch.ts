import type { Readable, Writable } from 'node:stream';

/** What to start. `command` is an absolute path; `env` is the whole environment. */
export interface LaunchRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** All of stdin, which then ends; null leaves stdin open as a stream. */
  readonly input: Uint8Array | null;
}

/** How a process ended: exactly one of the two is not null. */
export interface Ended {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** A started process that leads its own process group, so `-pid` names the group. */
export interface Launched {
  readonly pid: number;
  /** Null once all input is written; otherwise whoever is done with the process destroys it. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the process has exited, whoever still holds its outputs. Never rejects. */
  readonly ended: Promise<Ended>;
}

/** Is told of a start in the very turn of the loop in which it happens, so that no process is ever unknown. */
export interface Watch {
  /** `stdout` is how /proc shows what the process alone will have there; empty where it does not. */
  starting(stdout: string): void;
  /** The process group that was started; null when it could not be. */
  started(group: number | null): void;
}

/**
 * Starts one process with three standard streams that it can also open as /dev/stdin, /dev/stdout and
 * /dev/stderr. Rejects when the system refuses to start it, with the system's error code in the message.
 */
export type Launch = (request: LaunchRequest, watch?: Watch) => Promise<Launched>;
