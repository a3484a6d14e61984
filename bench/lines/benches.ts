import type { Bench, Line } from '../run/line.ts';
import { chains } from './chains.ts';
import { cores } from './cores.ts';
import { journal } from './durable.ts';
import { gateway, gatewayCores } from './gateway.ts';
import { gsm8k } from './gsm8k.ts';
import { helpers } from './helpers.ts';
import { guard, suites } from './judging.ts';
import { delay, stderr } from './load.ts';
import { oneshot, resident } from './oneshot.ts';
import { warm } from './python.ts';
import { filtered, server } from './server.ts';
import { start } from './start.ts';
import { telemetry } from './telemetry.ts';

/** Every bench that consists of lines, in the order of measurement. */
export const benches: readonly Bench[] = [
  oneshot,
  resident,
  warm,
  delay,
  stderr,
  server,
  filtered,
  chains,
  guard,
  gateway,
  suites,
  gsm8k,
  journal,
  start,
  helpers,
  telemetry,
  cores,
  gatewayCores,
];

/** The lines that a command selects. */
export interface Chosen {
  readonly lines: readonly Line[];
  /** Reasons why requested benches have no lines on this machine. */
  readonly skipped: readonly string[];
}

/**
 * Returns the lines whose bench or id prefix is named, or all lines. The short form includes only lines marked `short`.
 */
export async function chooseLines(names: readonly string[], short: boolean): Promise<Chosen> {
  const lines: Line[] = [];
  const skipped: string[] = [];
  for (const bench of benches) {
    const isNamed = names.some((name) => name.split('/')[0] === bench.name);
    if (names.length === 0 ? bench.isNamedOnly : !isNamed) continue;
    const found = await bench.lines();
    if (typeof found === 'string') skipped.push(`${bench.name}: ${found}`);
    else lines.push(...found);
  }
  const chosen = lines.filter((line) => isAsked(line, names) && (line.short || !short));
  return { lines: short ? chosen.map(withoutAsides) : chosen, skipped };
}

function withoutAsides(line: Line): Line {
  return { ...line, ways: line.ways.filter(({ aside }) => !aside) };
}

function isAsked({ id }: Line, names: readonly string[]): boolean {
  return (
    names.length === 0 ||
    names.some((name) => id === name || `${id}/`.startsWith(`${name}/`) || id.startsWith(`${name}-`))
  );
}
