import type { Position } from '../yaml/problem.ts';

/** Systems whose hooks run unchanged. */
export type ForeignName = 'picoclaw' | 'chibi' | 'claude' | 'agentao';
export type NativeName = 'promptkit' | 'promptkit-go';
export type DialectName = NativeName | ForeignName;

/** A process entry as the file declares it: no defaults, nothing resolved. */
export interface ExecConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly runtime: 'exec' | 'server';
  /** Names to forward from the host, or `NAME=value` literals. */
  readonly env: readonly string[];
  readonly dialect: DialectName;
  readonly timeoutMs?: number;
  readonly sandbox?: string;
  readonly cwd?: string;
  readonly concurrency?: number;
  readonly instances?: number;
  readonly warm?: boolean;
  readonly maxOutputBytes?: number;
  readonly graceMs?: number;
  readonly leftovers?: 'kill' | 'keep';
  /** Why this entry must not start: the file asks for something invalid or unsupported. */
  readonly refused?: string;
  /** Where the entry's `command` stands. */
  readonly position: Position;
}
