import { fixture } from '../entry.ts';
import type { Fault } from '../fault.ts';

interface Deed extends Omit<Fault, 'id' | 'area' | 'child'> {
  /** The arguments of fixtures/bin/misbehaves.sh. */
  readonly deed: readonly string[];
}

export function misbehaving(area: string, id: string, { deed, ...fault }: Deed): Fault {
  return { ...fault, area, id, child: () => ({ command: fixture('misbehaves.sh'), args: deed }) };
}
