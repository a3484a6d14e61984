import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import type { Line } from './line.ts';
import type { Spread } from './statistics.ts';

/** What `--json` writes. */
export interface Results {
  readonly machine: Machine;
  readonly rounds: number;
  readonly lines: readonly LineResult[];
}

export interface Machine {
  /** What ratios may be compared within: system, architecture and cores. */
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
  /** Each round's value as a part of the first way's in the same round. */
  readonly ratio: Spread;
  /** Processor time of the process that makes the calls, for each of them. */
  readonly cpu_ms: number;
  /** Of the processes that it started, 0 where the system does not tell. */
  readonly children_cpu_ms: number;
  readonly peak_mb: number;
}

/** This machine, without anything that names it. */
export function describeMachine(): Machine {
  return {
    class: `${platform()} ${arch()}, ${availableParallelism()} cores`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memory_gb: Math.round(totalmem() / 2 ** 30),
    kernel: /^\d+\.\d+/u.exec(release())?.[0] ?? release(),
    node: process.version,
  };
}
