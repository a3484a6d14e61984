import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import type { Line } from './line.ts';
import type { Spread } from './statistics.ts';

/** The format of `--json`. */
export interface Results {
  readonly machine: Machine;
  readonly rounds: number;
  readonly lines: readonly LineResult[];
}

export interface Machine {
  /** Ratios are comparable only within a class: system, architecture and cores. */
  readonly class: string;
  readonly cpu: string;
  readonly memory_gb: number;
  readonly kernel: string;
  readonly node: string;
}

export interface LineResult {
  readonly id: string;
  readonly title: string;
  readonly unit: Line['unit'];
  readonly ways: readonly WayResult[];
}

export interface WayResult {
  readonly name: string;
  readonly value: Spread;
  /** Each round's value relative to the first way's in the same round. */
  readonly ratio: Spread;
  /** CPU time per call of the process that makes the calls. */
  readonly cpu_ms: number;
  /** CPU time per call of its child processes; 0 if the system does not report it. */
  readonly children_cpu_ms: number;
  readonly peak_mb: number;
}

/** Describes this machine without identifying it. */
export function describeMachine(): Machine {
  return {
    class: `${platform()} ${arch()}, ${availableParallelism()} cores`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memory_gb: Math.round(totalmem() / 2 ** 30),
    kernel: /^\d+\.\d+/u.exec(release())?.[0] ?? release(),
    node: process.version,
  };
}
