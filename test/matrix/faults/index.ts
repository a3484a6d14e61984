import type { Fault } from '../fault.ts';
import { deaths } from './deaths.ts';

/** Every fault of the matrix. */
export const allFaults: readonly Fault[] = [...deaths];
