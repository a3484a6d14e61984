import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Contender, defineWay } from '../run/line.ts';

export interface SpawnLoop {
  /** The C program of native/spawn-loop.c. */
  readonly loop: string;
  readonly command: readonly string[];
  readonly request: string;
  readonly atOnce: number;
  readonly residentMb?: number;
}

/** A posix_spawn loop in C, which measures its own duration. */
export const spawnLoop = defineWay<SpawnLoop>(import.meta.url);

export async function open({
  loop,
  command,
  request,
  atOnce,
  residentMb = 0,
}: SpawnLoop): Promise<Contender> {
  return {
    run: async (count) => {
      const args = [String(count), String(atOnce), String(residentMb), request, ...command];
      const { stdout } = await promisify(execFile)(loop, args);
      const told = JSON.parse(stdout);
      return {
        seconds: told.seconds,
        cpuSeconds: told.cpu_seconds,
        childCpuSeconds: told.children_cpu_seconds,
        peakMb: told.peak_mb,
      };
    },
  };
}
