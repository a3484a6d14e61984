import { execa } from 'execa';
import { type Contender, defineWay, spread } from '../run/line.ts';
import type { BareSpawn } from './bare-spawn.ts';

/** The same program by hand, with execa. */
export const bareExeca = defineWay<BareSpawn>(import.meta.url);

export async function open({
  command: [program = '', ...args],
  request,
  atOnce,
}: BareSpawn): Promise<Contender> {
  const call = async () => {
    JSON.parse((await execa(program, args, { input: request })).stdout);
  };
  return { run: (count) => spread(count, atOnce, call) };
}
